package migrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/cli"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMain(m *testing.M) { harness.Main(m) }

const pkg = "greeter-operator"

var worlds atomic.Int64

// world is a namespace with an operator that a Subscription has installed, and a ClusterCatalog with the same content.
type world struct {
	*testing.T
	client.Client
	command client.WithWatch // what commands work with
	name    string           // of the namespace, of both catalogs, and of the ClusterExtension
	image   string           // of the catalogs
	catalog bundleio.Publisher
	bundle  *bundle.Bundle // the newest that is offered
}

// newWorld installs the operator for the namespaces of an OperatorGroup, as a Subscription that can be changed asks for.
func newWorld(t *testing.T, targets []string, change func(*v1alpha1.Subscription)) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	c := must.Value(harness.Shared())(t)
	w := &world{T: t, Client: c, command: harness.ClientOf(t, devcluster.Config()), name: fmt.Sprintf("m%d-%d", os.Getpid()%1000, worlds.Add(1))}
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "olm"}}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	harness.Create(t, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.name}})
	w.catalog = bundleio.Publisher{Registry: devcluster.Registry() + "/" + w.name}
	w.publish("1.0.0", "1.1.0")
	meta := metav1.ObjectMeta{Namespace: w.name, Name: w.name}
	if targets == nil {
		targets = []string{w.name}
	} // none are all namespaces
	harness.Create(t, c, &operatorsv1.OperatorGroup{ObjectMeta: meta, Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: targets}})
	harness.Create(t, c, &v1alpha1.CatalogSource{ObjectMeta: meta, Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: w.image}})
	harness.Create(t, c, &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: w.name}, Spec: olmv1.ClusterCatalogSpec{
		Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: w.image}}}})
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: "greeter"}, Spec: &v1alpha1.SubscriptionSpec{
		Package: pkg, Channel: "stable", CatalogSource: w.name, CatalogSourceNamespace: w.name, InstallPlanApproval: v1alpha1.ApprovalAutomatic}}
	if change != nil {
		change(sub)
	}
	harness.Create(t, c, sub)
	t.Cleanup(w.tidy)
	w.installed()
	return w
}

// publish makes the catalog offer the versions of the operator that are named, each as the one after the one before it.
func (w *world) publish(versions ...string) {
	w.Helper()
	var published []bundleio.PublishedBundle
	w.image, published = fixture.Samples(w, w.catalog, "catalog", fixture.Greeters(versions...))
	w.bundle = published[len(published)-1].Bundle
}

// fairlead gives a command, and returns what it prints and its exit code.
func (w *world) fairlead(in string, args ...string) (text string, code int) {
	w.Helper()
	var out bytes.Buffer
	args = append(args, "--kubeconfig", devcluster.Kubeconfig(), "-n", w.name)
	code = cli.Run(w.Context(), args, strings.NewReader(in), &out, &out)
	w.Logf("fairlead %s: exit code %d\n%s", strings.Join(args, " "), code, out.String())
	return out.String(), code
}

// says gives a command that has to end with a code and to print some texts.
func (w *world) says(code int, texts []string, args ...string) {
	w.Helper()
	out, is := w.fairlead("", args...)
	if is != code {
		w.Fatalf("fairlead %s: exit code %d, want %d", strings.Join(args, " "), is, code)
	}
	for _, text := range texts {
		must.Contain(w, "fairlead", out, text)
	}
}

// tidy removes what is there of the operator, by whichever API: others want the same CustomResourceDefinition.
func (w *world) tidy() {
	ctx := context.Background()
	e := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: w.name}}
	_ = w.Delete(ctx, &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: w.name, Name: "greeter"}})
	_ = w.DeleteAllOf(ctx, &v1alpha1.ClusterServiceVersion{}, client.InNamespace(w.name))
	_ = w.Delete(ctx, e)
	must.Eventually(w, "the operator is gone", func() error {
		var csvs v1alpha1.ClusterServiceVersionList
		err := w.Get(ctx, client.ObjectKeyFromObject(e), e)
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("the ClusterExtension is there: %w", err)
		}
		if err := w.List(ctx, &csvs, client.InNamespace(w.name)); err != nil || len(csvs.Items) > 0 {
			return errors.Join(err, fmt.Errorf("%d ClusterServiceVersions", len(csvs.Items)))
		}
		return nil
	})
}
