package components

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"
)

// newContainerdCommand runs the machine's containerd program for as long as this process lives. containerd itself does not read the end of
// its standard input, so it would outlive a supervisor that was killed.
func newContainerdCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "containerd PROGRAM [ARGUMENT...]",
		Args:               cobra.MinimumNArgs(1),
		SilenceUsage:       true,
		SilenceErrors:      true,
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return runContainerd(args) },
	}
}

func runContainerd(args []string) error {
	runtime.LockOSThread() // the kernel sends the signal of a parent's death when the thread that started the child ends
	child := exec.Command(args[0], args[1:]...)
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	if err := child.Start(); err != nil {
		return fmt.Errorf("start %s: %w", args[0], err)
	}
	go func() {
		for s := range signals {
			_ = child.Process.Signal(s) // fails when it has ended already, which is what is wanted
		}
	}()
	if err := child.Wait(); err != nil {
		return fmt.Errorf("%s ended: %w", args[0], err)
	}
	return nil
}
