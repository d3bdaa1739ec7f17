package devcluster

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/internal/devcluster/realnode"
)

const loopback = "127.0.0.1"

// Cluster is a control plane whose supervisor is the calling process. It stops when that process ends.
type Cluster struct {
	// KubeconfigPath is the administrator's kubeconfig.
	KubeconfigPath string
	// Registry is the host:port of the OCI registry.
	Registry string

	layout
	opts Options
	lock *os.File
	// previous is what the last run on the directory recorded.
	previous record
	started  time.Time
	reserved *reservedPort
	config   *rest.Config
	client   kubernetes.Interface
	routes   *routeTable
	leases   *leases
	registry *http.Server
	servers  []io.Closer // what the supervisor itself serves
	node     *realnode.Node

	mu        sync.Mutex
	processes []*process
	ready     map[string]bool
	stopping  bool
	// startup is how long the start took, and 0 before its end.
	startup time.Duration

	failed   chan struct{}
	failOnce sync.Once
	failure  error

	stopRequest chan struct{}
	requestOnce sync.Once
	stopOnce    sync.Once
	done        chan struct{}
	cause       error
}

// RESTConfig is the administrator's client configuration, without client-side rate limits.
func (c *Cluster) RESTConfig() *rest.Config { return rest.CopyConfig(c.config) }

// Done is closed when the cluster has stopped: by Stop, by another process through Client.Stop, because no lease was
// held any more, or because a component failed.
func (c *Cluster) Done() <-chan struct{} { return c.done }

// Err is the reason why a cluster stopped by itself; it is nil after Stop. Call it after Done is closed.
func (c *Cluster) Err() error {
	<-c.done
	return c.cause
}

// Route makes the API server's connections for a simulated pod end at a local server, until remove is called. From is
// IP, IP:PORT, NAMESPACE/SERVICE or NAMESPACE/SERVICE:PORT; to is HOST:PORT on loopback.
func (c *Cluster) Route(from, to string) (remove func(), err error) {
	if c.opts.RealNode {
		return exposeOnNode(from, to)
	}
	origin, err := parseOrigin(from)
	if err != nil {
		return nil, err
	}
	return c.routes.Add(origin, to)
}

// spawn starts a component and watches it: its unexpected end is the end of the cluster.
func (c *Cluster) spawn(name string, args []string) error {
	c.opts.Progress(name, Starting)
	p, err := c.startProcess(name, args)
	if err != nil {
		return err
	}
	go func() {
		<-p.done
		c.mu.Lock()
		expected := c.stopping
		c.mu.Unlock()
		if !expected {
			c.opts.Progress(name, Failed)
			cause := p.Ended()
			c.failOnce.Do(func() {
				c.failure = cause
				close(c.failed)
				go c.stop(cause)
			})
		}
	}()
	return nil
}

// passedOn are further variables of the user that a component needs: containerd pulls images as the user's other programs do.
var passedOn = map[string][]string{Containerd: {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"}}

// startProcess starts nothing once the cluster is being stopped: no one would stop it.
func (c *Cluster) startProcess(name string, args []string) (*process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping {
		return nil, fmt.Errorf("start %s: the cluster is being stopped", name)
	}
	// Deliberately small: proxies, kubeconfigs and Go settings of the user must not change what the components do.
	env := slices.Clone(runtimeSettings[name])
	for _, key := range slices.Concat([]string{"PATH", "HOME", "TMPDIR", "TZ"}, passedOn[name]) {
		if value, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+value)
		}
	}
	p, err := startProcess(processSpec{
		Name:       name,
		Executable: c.opts.Executable,
		Args:       args,
		Env:        env,
		Log:        c.dir.log(name),
	})
	if err == nil {
		c.processes = append(c.processes, p)
	}
	return p, err
}

func (c *Cluster) isReady(name string) {
	c.mu.Lock()
	c.ready[name] = true
	c.mu.Unlock()
	c.opts.Progress(name, Ready)
}

func (c *Cluster) String() string {
	return fmt.Sprintf("cluster %s in %s", c.opts.Name, c.dir)
}
