package components

import (
	"os"
	"os/signal"
	"syscall"
)

// terminationSignal is for components that bring no signal handling of their own.
func terminationSignal() <-chan os.Signal {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	return stop
}
