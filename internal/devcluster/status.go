package devcluster

import (
	"os"
	"time"
)

// Status is what a running cluster says of itself.
type Status struct {
	Name       string `json:"name"`
	Running    bool   `json:"running"`
	DataDir    string `json:"dataDir"`
	Kubeconfig string `json:"kubeconfig"`
	APIServer  string `json:"apiServer,omitempty"`
	Registry   string `json:"registry,omitempty"`
	// PodRegistry is where pods of a real node pull from the same registry.
	PodRegistry string    `json:"podRegistry,omitempty"`
	Nodes       int       `json:"nodes,omitempty"`
	RealNode    bool      `json:"realNode,omitempty"`
	PID         int       `json:"pid,omitempty"`
	Started     time.Time `json:"started,omitzero"`
	// StartSeconds is the time from the start to the first available Deployment; 0 while the cluster starts.
	StartSeconds float64 `json:"startSeconds,omitempty"`
	// MemoryBytes is what supervisor and components take together.
	MemoryBytes int64             `json:"memoryBytes,omitempty"`
	Leases      int               `json:"leases,omitempty"`
	Components  []ComponentStatus `json:"components,omitempty"`
}

// ComponentStatus is one child of the supervisor.
type ComponentStatus struct {
	Name        string `json:"name"`
	State       State  `json:"state"`
	PID         int    `json:"pid"`
	MemoryBytes int64  `json:"memoryBytes"`
	Log         string `json:"log"`
}

// Status checks the processes now.
func (c *Cluster) Status() Status {
	own, _ := memoryOf(os.Getpid()) // unknown memory is shown as 0
	status := Status{
		Name:        c.opts.Name,
		Running:     true,
		DataDir:     c.opts.DataDir,
		Kubeconfig:  c.KubeconfigPath,
		APIServer:   c.apiURL(),
		Registry:    c.Registry,
		PodRegistry: registryForPods(c.opts.RealNode, c.Registry),
		Nodes:       c.opts.Nodes,
		RealNode:    c.opts.RealNode,
		PID:         os.Getpid(),
		Started:     c.started,
		MemoryBytes: own,
		Leases:      c.leases.count(),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	status.StartSeconds = c.startup.Seconds()
	for _, p := range c.processes {
		state := Starting
		if c.ready[p.Name] {
			state = Ready
		}
		select {
		case <-p.done:
			state = Stopped
		default:
		}
		memory, _ := memoryOf(p.command.Process.Pid)
		status.MemoryBytes += memory
		status.Components = append(status.Components, ComponentStatus{Name: p.Name, State: state, PID: p.command.Process.Pid, MemoryBytes: memory, Log: p.Log})
	}
	return status
}
