package devcluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"time"
)

// Names of the components: each is argument 0 of its process, the name of its log and how it appears in status.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kwok              = "kwok"
	// Those of a real node, in the place of Kwok.
	Containerd = "containerd"
	Kubelet    = "kubelet"
	KubeProxy  = "kube-proxy"
	// Supervisor is argument 0 of the process that runs a detached cluster.
	Supervisor = "fairlead-cluster"
)

// State is what a component does; see Options.Progress.
type State string

// The states of a component.
const (
	Starting State = "starting"
	Ready    State = "ready"
	Stopped  State = "stopped"
	Failed   State = "failed"
)

// DefaultName is the name of the cluster when none is given.
const DefaultName = "default"

const defaultStartTimeout = 2 * time.Minute

// Options describe a cluster. The zero value is a cluster named "default" with one node.
type Options struct {
	// Name tells clusters apart; it is the kubeconfig context too.
	Name string `json:"name,omitempty"`
	// DataDir keeps everything; by default a directory for the name in the user's cache. A cluster started again on the
	// same directory has its objects, its addresses and its registry content back.
	DataDir string `json:"dataDir,omitempty"`
	// Nodes is the number of simulated nodes, 1 by default.
	Nodes int `json:"nodes,omitempty"`
	// RealNode makes this machine the cluster's node, with pods that really run, in the place of simulated ones. It needs Linux and root.
	RealNode bool `json:"realNode,omitempty"`
	// Throwaway trades durability for speed and deletes the data directory when the cluster stops without a failure.
	Throwaway bool `json:"throwaway,omitempty"`
	// IdleTimeout stops the cluster when no client has held a lease for that long; 0 means never.
	IdleTimeout time.Duration `json:"idleTimeout,omitempty"`
	// StartTimeout bounds the start; 2 minutes by default.
	StartTimeout time.Duration `json:"startTimeout,omitempty"`
	// Executable is the program whose main calls components.Main; by default the running one, if it does.
	Executable string `json:"executable,omitempty"`
	// Progress is told what happens during start and stop. It is called from several goroutines.
	Progress func(component string, state State) `json:"-"`
}

var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?$`)

// complete fills in the defaults and refuses what cannot work.
func (o Options) complete() (Options, error) {
	if o.Name == "" {
		o.Name = DefaultName
	}
	if o.DataDir == "" {
		dir, err := DataDir(o.Name)
		if err != nil {
			return o, err
		}
		o.DataDir = dir
	}
	var err error
	if o.DataDir, err = filepath.Abs(o.DataDir); err != nil {
		return o, fmt.Errorf("find the data directory: %w", err)
	}
	if o.Nodes == 0 {
		o.Nodes = 1
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = defaultStartTimeout
	}
	if o.Progress == nil {
		o.Progress = func(string, State) {}
	}
	switch {
	case o.Executable != "":
	case !hostedBySelf:
		err = errors.New("this program does not contain the control plane: call components.Main first thing in main, or set Options.Executable")
	case runtime.GOOS == "linux":
		o.Executable = "/proc/self/exe" // works after the file was deleted, as go run does
	default:
		o.Executable, err = os.Executable()
	}
	if !namePattern.MatchString(o.Name) {
		return o, errors.Join(err, fmt.Errorf("cluster name %q: use up to 42 lower-case letters, digits and dashes", o.Name))
	}
	if o.RealNode && o.Nodes != 1 {
		return o, errors.Join(err, fmt.Errorf("%d nodes: a real node is this machine, so there is one", o.Nodes))
	}
	if o.Nodes < 0 || o.Nodes > maxNodes {
		return o, errors.Join(err, fmt.Errorf("%d nodes: give a number from 1 to %d", o.Nodes, maxNodes))
	}
	return o, err
}

// DataDir is the default data directory of a cluster.
func DataDir(name string) (string, error) {
	if !namePattern.MatchString(name) {
		return "", fmt.Errorf("cluster name %q: use up to 42 lower-case letters, digits and dashes", name)
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "clusters", name), nil
}

func cacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the user's cache directory: %w", err)
	}
	return filepath.Join(cache, "fairlead"), nil
}

var hostedBySelf bool

// HostedBySelf records that the running program's main calls components.Main, which calls this.
func HostedBySelf() { hostedBySelf = true }
