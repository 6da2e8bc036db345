; Installs Pongbench for one user:  makensis -DVERSION=1.0.0 -DAPP=dist\pongbench packaging\windows\pongbench.nsi
; Built and run: see docs/installing.md.

Unicode true
!include MUI2.nsh

!ifndef VERSION
  !error "give -DVERSION=..."
!endif
!ifndef APP
  !define APP ..\..\dist\pongbench
!endif
!ifndef OUT
  !define OUT pongbench-${VERSION}-windows-x86_64.exe
!endif

Name "Pongbench ${VERSION}"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\Pongbench"
InstallDirRegKey HKCU "Software\Pongbench" "InstallDir"
RequestExecutionLevel user
SetCompressor /SOLID lzma

!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Pongbench"
!ifdef ICON
  !define MUI_ICON "${ICON}"
  !define MUI_UNICON "${ICON}"
!endif
!define MUI_FINISHPAGE_RUN "$INSTDIR\app\pongbench.exe"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

Var Unpacking

; A full disk, or a person who cancels: what was there before is there again.
Function .onInstFailed
  StrCmp $Unpacking "" done
  SetOutPath "$TEMP"
  RMDir /r "$INSTDIR\app"
  Rename "$INSTDIR\app.old" "$INSTDIR\app"
  RMDir "$INSTDIR"
  done:
FunctionEnd

Section "Pongbench"
  ; The old version goes as a whole; sessions, plans and settings lie elsewhere and stay.
  RMDir /r "$INSTDIR\app.old"
  IfFileExists "$INSTDIR\app\*.*" 0 fresh
  ClearErrors
  Rename "$INSTDIR\app" "$INSTDIR\app.old"
  IfErrors 0 fresh
  MessageBox MB_OK|MB_ICONSTOP "Pongbench is running; close it and start the installer again." /SD IDOK
  Abort
  fresh:
  StrCpy $Unpacking 1
  SetOutPath "$INSTDIR\app"
  File /r "${APP}/*.*"
  RMDir /r "$INSTDIR\app.old"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "$SMPROGRAMS\Pongbench.lnk" "$INSTDIR\app\pongbench.exe"

  WriteRegStr HKCU "Software\Pongbench" "InstallDir" "$INSTDIR"
  ; Offered beside a person's own editor for .yaml, which is not ours to take.
  WriteRegStr HKCU "Software\Classes\Pongbench.Session" "" "Pongbench session"
  WriteRegStr HKCU "Software\Classes\Pongbench.Session\shell\open\command" "" '"$INSTDIR\app\pongbench.exe" "%1"'
  WriteRegStr HKCU "Software\Classes\.yaml\OpenWithProgids" "Pongbench.Session" ""

  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "Pongbench"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL}" "Publisher" "The Pongbench developers"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\app\pongbench.exe"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
SectionEnd

Section "Uninstall"
  IfFileExists "$INSTDIR\app\*.*" 0 gone
  ClearErrors
  Rename "$INSTDIR\app" "$INSTDIR\app.old"
  IfErrors 0 gone
  MessageBox MB_OK|MB_ICONSTOP "Pongbench is running; close it and remove it then." /SD IDOK
  Abort
  gone:
  RMDir /r "$INSTDIR\app.old"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\Pongbench.lnk"
  DeleteRegValue HKCU "Software\Classes\.yaml\OpenWithProgids" "Pongbench.Session"
  DeleteRegKey HKCU "Software\Classes\Pongbench.Session"
  DeleteRegKey HKCU "Software\Pongbench"
  DeleteRegKey HKCU "${UNINSTALL}"
SectionEnd
