package e2e

import (
	"bytes"
	"context"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/api/crds"
)

// patience is how long an API server may take to serve what was created.
const patience = time.Minute

// clusterOf is a client of the cluster that $KUBECONFIG of a script names.
func clusterOf(ts *testscript.TestScript) client.Client {
	config, err := clientcmd.BuildConfigFromFlags("", ts.Getenv("KUBECONFIG"))
	ts.Check(err)
	scheme := runtime.NewScheme()
	ts.Check(apiextensionsv1.AddToScheme(scheme))
	c, err := client.New(config, client.Options{Scheme: scheme})
	ts.Check(err)
	return c
}

// serve creates the CustomResourceDefinitions of a group and waits until they are served: serve GROUP.
func serve(ts *testscript.TestScript, _ bool, args []string) {
	c := clusterOf(ts)
	all, err := crds.All()
	ts.Check(err)
	for _, crd := range all {
		if crd.Spec.Group != args[0] {
			continue
		}
		ts.Check(c.Create(context.Background(), crd))
		ts.Check(wait.PollUntilContextTimeout(context.Background(), 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
			if err := c.Get(ctx, client.ObjectKeyFromObject(crd), crd); err != nil {
				return false, err
			}
			for _, condition := range crd.Status.Conditions {
				if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
					return true, nil
				}
			}
			return false, nil
		}))
	}
}

// create creates the objects of a file with what their status says, as if controllers had written that: create FILE.
func create(ts *testscript.TestScript, _ bool, args []string) {
	c := clusterOf(ts)
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	for _, document := range bytes.Split([]byte(text), []byte("\n---\n")) {
		object := &unstructured.Unstructured{}
		ts.Check(yaml.Unmarshal(document, &object.Object))
		status, has := object.Object["status"]
		// A definition is established a moment before it is served.
		ts.Check(wait.PollUntilContextTimeout(context.Background(), 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
			err := c.Create(ctx, object)
			if meta.IsNoMatchError(err) {
				return false, nil
			}
			return err == nil, err
		}))
		if has {
			object.Object["status"] = status
			ts.Check(c.Status().Update(context.Background(), object))
		}
	}
}
