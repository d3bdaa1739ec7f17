package realnode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/fairlead/test/must"
)

// TestOperatorsDoTheirJob is what a newcomer sees: the demo installs and upgrades operators whose pods run, and what they are asked for is done.
func TestOperatorsDoTheirJob(t *testing.T) {
	w := newWorld(t)
	before := w.traces()
	demo := exec.Command(w.program, "demo", "--real-node", "-o", "json", "--name", "real", "--data-dir", w.dir)
	demo.Dir = filepath.Join("..", "..")
	var errs bytes.Buffer
	demo.Stderr = &errs
	output := must.Value(demo.StdoutPipe())(t)
	must.NoError(t, demo.Start())
	ended := false
	t.Cleanup(func() {
		if !ended {
			_ = demo.Process.Signal(syscall.SIGTERM)
			_ = demo.Wait()
		}
	})
	var result struct {
		Kubeconfig string
		Operators  []struct{ Name string }
	}
	if err := json.NewDecoder(output).Decode(&result); err != nil {
		t.Fatalf("the demo did not come to its end: %v\n%s", err, &errs)
	}
	var operators []string
	for _, o := range result.Operators {
		operators = append(operators, o.Name)
	}
	must.Contain(t, "the installed operators", strings.Join(operators, " "), "greeter-operator.v1.2.0", "guestbook-operator.v1.2.0")

	w.config = must.Value(clientcmd.BuildConfigFromFlags("", result.Kubeconfig))(t)
	client := must.Value(dynamic.NewForConfig(w.config))(t)
	guestbooks := client.Resource(schema.GroupVersionResource{Group: "demo.fairlead.dev", Version: "v1", Resource: "guestbooks"}).Namespace("demo")
	must.Value(guestbooks.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "demo.fairlead.dev/v1", "kind": "Guestbook", "metadata": map[string]any{"name": "visit"}, "spec": map[string]any{"guest": "Ada", "title": "Countess"},
	}}, metav1.CreateOptions{}))(t)
	// The guestbook's operator asks the greeter's for a greeting, which is in a ConfigMap.
	w.eventually("both operators work on a Guestbook", func(ctx context.Context) error {
		book, err := guestbooks.Get(ctx, "visit", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if entry, _, _ := unstructured.NestedString(book.Object, "status", "entry"); entry != "Countess: Hello Ada" {
			return fmt.Errorf("its status is %v", book.Object["status"])
		}
		return nil
	})

	// The API server asks the manager, which listens on loopback of this machine.
	packages, err := client.Resource(schema.GroupVersionResource{Group: "packages.operators.coreos.com", Version: "v1", Resource: "packagemanifests"}).Namespace("demo").List(t.Context(), metav1.ListOptions{})
	must.NoErrorf(t, err, "list the packages that are offered")
	must.Equal(t, "number of packages that are offered", len(packages.Items), 2)

	must.NoError(t, demo.Process.Signal(syscall.SIGINT))
	ended = true
	_ = demo.Wait() // an interrupted program has an exit code of its own
	must.Equal(t, "what is on the machine afterwards", w.traces(), before)
}
