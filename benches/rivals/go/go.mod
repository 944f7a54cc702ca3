module rival

go 1.21
