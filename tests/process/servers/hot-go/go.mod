module hot

go 1.19
