// Compiled into a Go server only for its profile: the first SIGUSR2 begins a CPU profile, the second
// ends it.
package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"syscall"
)

func init() {
	asked := make(chan os.Signal, 2)
	signal.Notify(asked, syscall.SIGUSR2)
	go func() {
		place := filepath.Join(os.TempDir(), "profile-"+strconv.Itoa(os.Getpid()))
		<-asked
		file, err := os.Create(place + ".part")
		if err != nil || pprof.StartCPUProfile(file) != nil {
			return
		}
		<-asked
		pprof.StopCPUProfile()
		file.Close()
		os.Rename(place+".part", place)
	}()
}
