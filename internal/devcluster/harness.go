package devcluster

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// TestKubeconfigVariable names another cluster for the tests to use, in place of the embedded one.
const TestKubeconfigVariable = "FAIRLEAD_TEST_KUBECONFIG"

const joinTimeout = 15 * time.Minute // the first build of Kubernetes is part of it

// Main is for TestMain of a package that tests against a cluster. The cluster is shared by all packages of a go test run;
// it is started when the first test asks for it, so that tests that need none do not wait, and stops by itself when no
// test process has been using it for a while, even if they were killed.
func Main(m *testing.M) {
	os.Exit(RunTests(m, atOnce))
}

// atOnce is how many parallel tests of a package with one cluster run at a time.
const atOnce = 6

// RunTests runs the tests of a package, those that are parallel so many at a time, unless -parallel says otherwise: tests with a cluster wait for it
// more than they compute, so that as many as there are processors would leave these idle.
func RunTests(m *testing.M, atOnce int) (code int) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		if err := flag.Set("test.parallel", strconv.Itoa(max(atOnce, runtime.GOMAXPROCS(0)))); err != nil {
			panic(err) // the flag is that of the testing package
		}
	}
	return m.Run()
}

// MainAlone is Main for a package whose tests run a manager of the whole cluster: it would work on the namespaces of other packages as
// well, so the package has a cluster of its own. What is to be done after the tests is done before that ends.
func MainAlone(m *testing.M, after ...func()) {
	var client *Client
	var data string
	join = func(ctx context.Context) (*Client, error) {
		var err error
		client, data, err = startAlone(ctx, sharedNodes)
		return client, err
	}
	code := RunTests(m, atOnce)
	for _, do := range after {
		do()
	}
	if client != nil {
		_ = client.Stop(context.Background()) // it ends with this process anyway
	}
	_ = os.RemoveAll(data)
	os.Exit(code)
}

// join is how this process comes to its cluster.
var join = joinShared

// environmentOfTests is what the tests of this process use.
type environmentOfTests struct {
	kubeconfig string
	config     *rest.Config
	registry   string
	client     *Client // nil with another cluster
}

var shared = sync.OnceValues(func() (*environmentOfTests, error) {
	e := &environmentOfTests{kubeconfig: os.Getenv(TestKubeconfigVariable)}
	if e.kubeconfig != "" {
		// Serve the registry in the test process itself, because the other cluster has none that tests may use.
		_, address, err := serveRegistry("", 0)
		if err != nil {
			return nil, err
		}
		e.registry = address.String()
	} else {
		ctx, cancel := context.WithTimeout(context.Background(), joinTimeout)
		defer cancel()
		client, err := join(ctx)
		if err != nil {
			return nil, fmt.Errorf("shared cluster of the tests: %w", err)
		}
		status, err := client.Status(ctx)
		if err != nil {
			return nil, fmt.Errorf("shared cluster of the tests: %w", err)
		}
		e.kubeconfig, e.registry, e.client = status.Kubeconfig, status.Registry, client
	}
	var err error
	if e.config, err = clientcmd.BuildConfigFromFlags("", e.kubeconfig); err != nil {
		return nil, fmt.Errorf("read the kubeconfig of the tests' cluster: %w", err)
	}
	e.config.QPS = -1
	return e, nil
})

func mustShare() *environmentOfTests {
	e, err := shared()
	if err != nil {
		panic(err)
	}
	return e
}

// Config is an administrator's client configuration for the tests' cluster. It panics when there is no cluster to be had.
func Config() *rest.Config { return rest.CopyConfig(mustShare().config) }

// Kubeconfig is the path of an administrator's kubeconfig for the tests' cluster.
func Kubeconfig() string { return mustShare().kubeconfig }

// Registry is the host:port of an OCI registry on loopback.
func Registry() string { return mustShare().registry }
