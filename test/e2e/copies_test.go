package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

// TestCopiesAreMendedAtTheStart: copies are edited while no manager runs, and some in a way of which the API server tells nothing, as it does
// of fields that are only removed. The next start mends these, and writes no other copy.
func TestCopiesAreMendedAtTheStart(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs a cluster of its own")
	}
	t.Parallel()
	o := pooled(t)
	edits := map[string]struct{ sub, patch string }{
		"changed":        {"", `[{"op":"replace","path":"/spec/displayName","value":"Hacked"}]`},
		"removed":        {"", `[{"op":"remove","path":"/spec/description"}]`},
		"status-changed": {"status", `[{"op":"replace","path":"/status/message","value":"Hacked"}]`},
		"status-removed": {"status", `[{"op":"remove","path":"/status/message"}]`},
		"untouched":      {},
		"untouched-too":  {},
	}
	group := &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "home", Name: "group"}}
	o.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "home"}})
	for name := range edits {
		o.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		group.Spec.TargetNamespaces = append(group.Spec.TargetNamespaces, name)
	}
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "home", Name: "op.v1.0.0"}}
	csv.Spec.DisplayName, csv.Spec.Description = "Op", "What it is for"
	csv.Spec.InstallModes = []v1alpha1.InstallMode{{Type: v1alpha1.InstallModeTypeMultiNamespace, Supported: true}}
	csv.Spec.InstallStrategy.StrategyName = v1alpha1.InstallStrategyNameDeployment
	o.create(group, csv)
	copied := func(namespace string) *v1alpha1.ClusterServiceVersion {
		c := &v1alpha1.ClusterServiceVersion{}
		must.NoError(t, client.IgnoreNotFound(o.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: csv.Name}, c)))
		return c
	}
	whole := func() error {
		for name := range edits {
			if c := copied(name); c.Spec.DisplayName != "Op" || c.Spec.Description == "" || c.Status.Phase != v1alpha1.CSVPhaseSucceeded || c.Status.Message != "The operator is running in home but is managing this namespace" {
				return fmt.Errorf("the copy in %s is %q, %s: %q", name, c.Spec.DisplayName, c.Status.Phase, c.Status.Message)
			}
		}
		return nil
	}
	options := manager.Options{Config: o.config}
	options.PackageServer.Route = o.cluster.Expose
	stop := harness.Run(t, options)
	must.EventuallyWithin(o, "the copies", time.Minute, whole)
	time.Sleep(time.Second) // for a write that would come after these
	stop()

	for name, edit := range edits {
		if edit.patch == "" {
			continue
		}
		patch, err := client.RawPatch(types.JSONPatchType, []byte(edit.patch)), error(nil)
		if edit.sub == "" {
			err = o.Patch(t.Context(), copied(name), patch, client.FieldOwner("kubectl-edit"))
		} else {
			err = o.Status().Patch(t.Context(), copied(name), patch, client.FieldOwner("kubectl-edit"))
		}
		must.NoErrorf(t, err, "%s", name)
	}
	seen := &tap{}
	options.Config = rest.CopyConfig(o.config)
	options.Config.Wrap(seen.wrap)
	stop = harness.Run(t, options)
	must.EventuallyWithin(o, "the copies to be mended", time.Minute, whole)
	var written []string
	note := func() {
		for _, r := range seen.take() {
			if before, after, is := strings.Cut(r.path, "/clusterserviceversions"); is && r.writes() {
				written = append(written, before[strings.LastIndex(before, "/")+1:]+after)
			}
		}
	}
	note()
	for name, edit := range edits {
		if is := slices.ContainsFunc(written, func(w string) bool { return strings.HasPrefix(w, name+"/") }); is != (edit.patch != "") {
			t.Errorf("%s: written %t; all writes: %v", name, is, written)
		}
	}
	stop()
	seen.take()
	written = nil
	harness.Run(t, options)
	time.Sleep(2 * time.Second)
	if note(); len(written) > 0 {
		t.Errorf("another start, though nothing has changed, writes %v", written)
	}
}
