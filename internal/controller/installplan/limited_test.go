package installplan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// limitTo makes the manager one of namespace ns alone: its cache holds no other ClusterServiceVersions, and where it is denied them, the API
// server does not tell of others either.
func (w *world) limitTo(denied bool) {
	w.controller.Namespaces = []string{"ns"}
	w.controller.client = limitedCache{w.Server}
	if denied {
		w.controller.live = fakeapi.Lists{Reader: limitedReader{w.Server}, Before: func(l client.ObjectList, namespace string) error {
			_, operators := l.(*v1alpha1.ClusterServiceVersionList)
			_, plans := l.(*v1alpha1.InstallPlanList)
			if operators || plans && namespace != "ns" {
				return notYours
			}
			return nil
		}}
	}
}

var notYours = apierrors.NewForbidden(v1alpha1.GroupVersion.WithResource("clusterserviceversions").GroupResource(), "", errors.New("not yours"))

// limitedCache has what is in namespace ns.
type limitedCache struct{ client.Client }

func (c limitedCache) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	var options client.ListOptions
	switch options.ApplyOptions(opts); l.(type) {
	case *v1alpha1.ClusterServiceVersionList:
		opts = append(opts, client.InNamespace("ns"))
	case *v1alpha1.InstallPlanList:
		if options.Namespace != "" && options.Namespace != "ns" {
			return fmt.Errorf("unable to list: %v because of unknown namespace for the cache", options.Namespace)
		}
	}
	return c.Client.List(ctx, l, opts...)
}

// limitedReader may read no ClusterServiceVersion outside of namespace ns.
type limitedReader struct{ client.Reader }

func (r limitedReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	_, is := o.(*v1alpha1.ClusterServiceVersion)
	if key.Namespace != "ns" && (is || o.GetObjectKind().GroupVersionKind().Kind == v1alpha1.ClusterServiceVersionKind) {
		return notYours
	}
	return r.Reader.Get(ctx, key, o, opts...)
}

// TestLimitedManagersRespectOtherNamespaces has a manager that does not watch the namespace of an operator which has to do with what a
// plan wants. That operator is there all the same.
func TestLimitedManagersRespectOtherNamespaces(t *testing.T) {
	role := func(owner string) client.Object {
		return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "op.v1-1", Labels: map[string]string{
			v1alpha1.ManagedLabel: "true", v1alpha1.OwnerLabel: owner, v1alpha1.OwnerNamespaceLabel: "elsewhere", v1alpha1.OwnerKindLabel: v1alpha1.ClusterServiceVersionKind}}}
	}
	crd := func(alongside string) client.Object {
		crd := liveCRD(t, "v0 served, v1 served", "v1")
		if alongside != "" {
			namespace, name, _ := strings.Cut(alongside, "/")
			crd.Annotations = map[string]string{bundle.InstalledAlongsideKey(namespace, name): alongside}
		}
		return crd
	}
	unbrought := liveCRD(t, "v0 served, v1 served", "v1")
	unbrought.Annotations = map[string]string{v1alpha1.AdoptableByAnnotation: "*"}
	copied := csv("elsewhere", "op.v0", "", "widgets.example.com")
	copied.Labels = map[string]string{v1alpha1.CopiedFromLabel: "ns"}
	bringing := newPlan()
	bringing.Namespace, bringing.Spec.ClusterServiceVersionNames, bringing.Status.Phase = "elsewhere", []string{"op.v0"}, v1alpha1.InstallPlanPhaseInstalling
	tests := map[string]struct {
		there   []client.Object
		denied  bool
		refused string // empty: it is carried out
	}{
		"a ClusterRole of an operator there":                  {[]client.Object{csv("elsewhere", "other.v1", ""), role("other.v1")}, false, "belongs to ClusterServiceVersion elsewhere/other.v1;"},
		"a ClusterRole of the same operator there":            {[]client.Object{csv("elsewhere", "op.v1", ""), role("op.v1")}, false, ""},
		"a ClusterRole of one that is gone":                   {[]client.Object{role("other.v1")}, false, ""},
		"a ClusterRole of one that cannot be looked for":      {[]client.Object{role("other.v1")}, true, "belongs to ClusterServiceVersion elsewhere/other.v1, unless that is gone, which cannot be found out"},
		"a CRD that an operator there owns":                   {[]client.Object{csv("elsewhere", "op.v0", "", "widgets.example.com"), unbrought}, false, "elsewhere/op.v0"},
		"a CRD that a copy there seems to own":                {[]client.Object{copied, crd("")}, false, ""},
		"a CRD that was installed with one there":             {[]client.Object{csv("elsewhere", "op.v0", "", "widgets.example.com"), crd("elsewhere/op.v0")}, false, "elsewhere/op.v0"},
		"a CRD that was installed with one that is gone":      {[]client.Object{crd("elsewhere/op.v0")}, false, ""},
		"a CRD that a plan there is bringing":                 {[]client.Object{bringing, crd("elsewhere/op.v0")}, false, "elsewhere/op.v0"},
		"a CRD that was installed with one that is not shown": {[]client.Object{crd("elsewhere/op.v0")}, true, "elsewhere/op.v0"},
		"a CRD of its own that was denied the rest":           {[]client.Object{csv("ns", "gone.v1", ""), crd("ns/op.v1")}, true, ""},
		"a CRD with an annotation that names nothing":         {[]client.Object{crd("nothing")}, true, "no InstallPlan brought it"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append(deepCopies(tc.there), newPlan(step(t, csvYAML), step(t, withVersions("v1 served")), step(t, clusterRoleYAML)))...)
			w.limitTo(tc.denied)
			p := w.settle(t, 2*time.Minute)
			if tc.refused == "" {
				must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseComplete)
				return
			}
			must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseFailed)
			must.Contain(t, "message", p.Status.Message, tc.refused)
			for _, write := range w.Taken() {
				must.Equal(t, "it has done", write, reported)
			}
		})
	}
}
