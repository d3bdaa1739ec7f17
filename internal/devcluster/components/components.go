// Package components runs the parts of an embedded cluster that are other projects' programs: etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler and kwok, and on Linux kubelet and kube-proxy for a real node. It is the only package that links them. Each part runs in a process of
// its own, which is this same binary started again with the part's name as argument 0, because the parts install
// process-wide signal handlers, flags and logging.
//
// It never starts a process and knows nothing of data directories: its callers in devcluster do that. Start reading at Main.
package components

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	_ "unsafe"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"fairlead.dev/fairlead/internal/devcluster"
)

// commands are the components by the name given as argument 0.
var commands = map[string]func() *cobra.Command{
	devcluster.Etcd:              newEtcdCommand,
	devcluster.APIServer:         apiserver.NewAPIServerCommand,
	devcluster.ControllerManager: controllermanager.NewControllerManagerCommand,
	devcluster.Scheduler:         func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	devcluster.Kwok:              newKwokCommand,
}

// openUmask are the components whose files others than the owner read.
var openUmask = map[string]bool{}

// Main must be the first call of a program that is to host embedded clusters. When argument 0 names a component or the
// cluster supervisor it runs that and exits; otherwise it returns, having told devcluster that this program can do so.
func Main() {
	name := filepath.Base(os.Args[0])
	if command, ok := commands[name]; ok {
		if openUmask[name] {
			syscall.Umask(0o022)
		} else {
			syscall.Umask(0o077) // what components create is for the owner only
		}
		go exitWithParent()
		gitVersion, gitMajor, gitMinor = Release, "1", "36"
		if err := version.SetDynamicVersion(Release); err != nil {
			fmt.Fprintf(os.Stderr, "set the reported Kubernetes version to %s: %v\n", Release, err)
			os.Exit(1)
		}
		os.Exit(cli.Run(command()))
	}
	if name == devcluster.Supervisor {
		devcluster.HostedBySelf()
		os.Exit(devcluster.Supervise(os.Stdin, os.Stdout, os.Stderr))
	}
	devcluster.HostedBySelf()
	// Linked programs have put flags of theirs here, which would show up in every command of this one.
	pflag.CommandLine = pflag.NewFlagSet(name, pflag.ContinueOnError)
}

// exitWithParent ends the process at once when standard input ends. The supervisor holds the other end of that pipe and
// never writes: the kernel closes it when the supervisor is gone, however it went.
func exitWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin) // how it ends does not matter, only that it does
	fmt.Fprintln(os.Stderr, "the cluster's supervisor is gone: exiting")
	os.Exit(1)
}

// Release is the Kubernetes release that is linked in. A test compares it with go.mod.
const Release = "v1.36.3"

// Kubernetes sets these with linker flags in its release builds. Without them it reports v0.0.0, and operators with a
// minKubeVersion refuse such a server. Plain go build and go run pass no linker flags, so they are set at run time.
//
//go:linkname gitVersion k8s.io/component-base/version.gitVersion
var gitVersion string

//go:linkname gitMajor k8s.io/component-base/version.gitMajor
var gitMajor string

//go:linkname gitMinor k8s.io/component-base/version.gitMinor
var gitMinor string
