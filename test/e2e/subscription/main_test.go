package subscription

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"

	"github.com/go-logr/logr"
	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// store is the directory of the manager's content, which outlives single scripts.
var store string

func TestMain(m *testing.M) {
	code := m.Run()
	if store != "" {
		_ = os.RemoveAll(store)
	}
	os.Exit(code)
}

// patience is how long a script waits for something that takes a second on an idle machine; a plan is given up only after a minute.
const patience = 2 * time.Minute

// running is the manager that all scripts share.
var running = sync.OnceValues(func() (client.Client, error) {
	ctx := context.Background()
	if err := manager.InstallCRDs(ctx, devcluster.Config()); err != nil {
		return nil, err
	}
	var err error
	if store, err = os.MkdirTemp("", "fairlead-e2e-"); err != nil {
		return nil, err
	}
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- manager.Run(ctx, manager.Options{Config: devcluster.Config(), StoreDir: store, Log: logr.Discard(), Ready: func() { close(ready) }})
	}()
	select {
	case <-ready:
	case err := <-ended:
		return nil, err
	}
	scheme, err := manager.Scheme()
	if err != nil {
		return nil, err
	}
	return client.New(devcluster.Config(), client.Options{Scheme: scheme})
})

var scripts atomic.Int64

func TestScenarios(t *testing.T) {
	if testing.Short() {
		t.Skip("scenarios need the embedded cluster")
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"publish": publish, "apply": apply, "patch": patch, "delete": remove, "await": await, "says": says, "approve": approve, "metric": metric, "event": event,
		},
		Setup: func(env *testscript.Env) error {
			c, err := running()
			if err != nil {
				return fmt.Errorf("start the manager: %w", err)
			}
			base := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
			namespace := fmt.Sprintf("%s-%d-%d", base, os.Getpid(), scripts.Add(1))
			object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
			if err := c.Create(context.Background(), object); err != nil {
				return err
			}
			env.Defer(func() { _ = c.Delete(context.Background(), object) })
			env.Setenv("NS", namespace)
			env.Setenv("REGISTRY", devcluster.Registry())
			return nil
		},
	})
}
