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
	"fairlead.dev/fairlead/test/harness"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	// patience is how long a script waits for something that takes a second on an idle machine.
	patience = 2 * time.Minute
	// retryTimeout is how long the manager retries an InstallPlan. The default is a minute, which a script would wait for.
	retryTimeout = 15 * time.Second
)

// shared starts the manager of all scripts, once, and returns a client of its cluster.
var shared = sync.OnceValues(func() (client.Client, error) {
	return harness.Start(manager.Options{InstallPlanRetryTimeout: retryTimeout})
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
			c, err := shared()
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
