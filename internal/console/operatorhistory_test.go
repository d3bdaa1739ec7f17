package console

import (
	"context"
	"errors"
	"net/http"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/test/must"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestRollback shows what going back does, with its proof, and does it when nothing is in the way.
func TestRollback(t *testing.T) {
	v := newTour(t, nil, extended("apps", "modern", "a", "b")...)
	page := v.shows(http.StatusOK, "/operator/ClusterExtension/apps/modern/rollback")
	must.Contain(t, "the way back", page.text("main"), "From revision 2 (2.0.0) back to revision 1 (1.0.0)", "Proven: nothing is lost.", "Changed ConfigMap apps/settings")
	page.button("Go back to revision 1")
	page = v.does("/operator/ClusterExtension/apps/modern/rollback", "to", "1")
	must.Contain(t, "done", page.text("main"), "ClusterExtension modern returns to revision 1, and stays there until it is upgraded")
	var e olmv1.ClusterExtension
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Name: "modern"}, &e))
	must.Equal(t, "the manager is asked", e.Annotations[ops.RollbackToKey], "1")
	must.Contain(t, "a revision that is not kept", v.shows(http.StatusBadRequest, "/operator/ClusterExtension/apps/modern/rollback?to=7").text("main"), "it is not kept; there is 1", "What to do: choose another revision of its history")
	must.Contain(t, "no number", v.shows(http.StatusBadRequest, "/operator/ClusterExtension/apps/modern/rollback?to=-1").text("main"), "choose one of its history")
	must.Contain(t, "followed", page.text("#jobs"), "Rollback of ClusterExtension modern : under way")
	must.Contain(t, "no more", v.does("/jobs/1/end").text("main"), "Rollback of ClusterExtension modern: stopped; what was done by then stays done")
}

// TestRollbackThatIsBlocked has no button, and is refused all the same.
func TestRollbackThatIsBlocked(t *testing.T) {
	objects := extended("apps", "modern", "a", "b")
	newest := objects[2].(*olmv1.ClusterObjectSet)
	crd := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "kites.example.com"}}}
	newest.Spec.Phases[0].Objects = append(newest.Spec.Phases[0].Objects, olmv1.ClusterObjectSetObject{Object: crd})
	live := kiteDefinition()
	yes := true
	live.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterObjectSetKind, Name: newest.Name, UID: newest.UID, Controller: &yes}})
	v := newTour(t, nil, append(objects, live, aKite("sky", "a", "x"))...)
	page := v.shows(http.StatusOK, "/operator/ClusterExtension/apps/modern/rollback")
	must.Contain(t, "in the way", page.text("main"), "In the way: custom resources would be lost", "kites.example.com")
	for _, b := range page.all("button", "") {
		must.Lack(t, "a button", textOf(b), "Go back to")
	}
	must.Contain(t, "refused", v.refuses(http.StatusConflict, "/operator/ClusterExtension/apps/modern/rollback", "to", "1"), "stays at revision 2: custom resources would be lost")
	var e olmv1.ClusterExtension
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Name: "modern"}, &e))
	must.Equal(t, "nothing was asked", e.Annotations[ops.RollbackToKey], "")
}

// TestNoWayBackOfASubscription says what works instead.
func TestNoWayBackOfASubscription(t *testing.T) {
	v := newTour(t, nil, subscribes("ops", "mine")...)
	must.Contain(t, "what works", v.shows(http.StatusBadRequest, "/operator/Subscription/ops/mine/rollback").text("main"), "the v0 API keeps no earlier revision", "hold it at the installed version", "fairlead migrate")
	must.Contain(t, "on its page", v.shows(http.StatusOK, "/operator/Subscription/ops/mine").text("#history-of"), "there is no way back to them", "No InstallPlan of it is kept.")
}

// TestDiff compares two revisions, and two InstallPlans; what is not kept is said plainly.
func TestDiff(t *testing.T) {
	objects := extended("apps", "modern", "a", hostile)
	for _, name := range []string{"install-1", "install-2"} {
		plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name, OwnerReferences: []metav1.OwnerReference{{Kind: v1alpha1.SubscriptionKind, Name: "mine", UID: "sub"}}}}
		plan.Spec.ClusterServiceVersionNames = []string{"mine.v" + name[len(name)-1:]}
		content := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"ops"},"data":{"mode":"` + name + `"}}`
		plan.Status.Plan = []*v1alpha1.Step{{Resolving: plan.Spec.ClusterServiceVersionNames[0], Resource: v1alpha1.StepResource{Kind: "ConfigMap", Name: "x", Version: "v1", Manifest: content}}}
		objects = append(objects, plan)
	}
	other := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "another"}}
	v := newTour(t, nil, append(append(objects, other), subscribes("ops", "mine")...)...)
	page := v.shows(http.StatusOK, "/operator/ClusterExtension/apps/modern/diff")
	must.Contain(t, "the last step", page.text("main"), "From revision 1 (1.0.0) to revision 2 (2.0.0)", "1 object: 1 changed", "ConfigMap apps/settings", ".data.mode before: a → after: "+hostile)
	must.Contain(t, "the same", v.shows(http.StatusOK, "/operator/ClusterExtension/apps/modern/diff?from=1&to=1").text("main"), "Choose two that are not the same.")
	must.Contain(t, "not kept", v.shows(http.StatusNotFound, "/operator/ClusterExtension/apps/modern/diff?from=1&to=9").text("main"), "What to do: choose two of its history")
	must.Contain(t, "plans", v.shows(http.StatusOK, "/operator/Subscription/ops/mine/diff?from=install-1&to=install-2").text("main"), "ConfigMap ops/x", "before: install-1 → after: install-2")
	must.Contain(t, "a plan of another", v.shows(http.StatusNotFound, "/operator/Subscription/ops/mine/diff?from=install-1&to=another").text("main"), "choose two of its history")
	v.shows(http.StatusBadRequest, "/operator/ClusterServiceVersion/ops/mine.v1.0.0/diff")

	lost := objects[len(objects)-1].(*v1alpha1.InstallPlan)
	lost.Status.Plan[0].Resource.Manifest = `{"kind":"ContentReference","digest":"sha256:0","size":3}`
	lost.ResourceVersion = ""
	v = newTour(t, nil, append(objects[len(objects)-2:], subscribes("ops", "mine")...)...)
	must.Contain(t, "lost content", v.shows(http.StatusOK, "/operator/Subscription/ops/mine/diff").text("main"), "They cannot be compared: what they consist of is not kept.", "the objects of InstallPlan install-2 are not kept in the cluster")
}

// TestUninstall shows what goes and what stays, does nothing until the name is typed, and then does it in the background.
func TestUninstall(t *testing.T) {
	crd := kiteDefinition()
	crd.SetAnnotations(map[string]string{v1alpha1.InstalledAlongsideAnnotationPrefix + "x": "ops/mine.v1.0.0"})
	v := newTour(t, nil, append(subscribes("ops", "mine"), crd, aKite("sky", "a", "x"))...)
	at := "/operator/Subscription/ops/mine/uninstall"
	page := v.shows(http.StatusOK, at)
	must.Contain(t, "what goes and stays", page.text("main"), "Goes 2", "Subscription ops/mine", "ClusterServiceVersion ops/mine.v1.0.0", "Namespace ops", "kites.example.com 1 stays it has custom resources to delete them, too, tick Delete with them")
	must.Lack(t, "a flag of the command line", page.text("main"), "--")
	must.Lack(t, "what is ticked already", v.shows(http.StatusOK, at+"?delete=kites.example.com").text("main"), "tick Delete with them")
	must.Contain(t, "with custom resources", v.shows(http.StatusOK, at+"?delete=kites.example.com").text("main"), "kites.example.com 1 goes")
	must.Contain(t, "a definition of others", v.shows(http.StatusBadRequest, at+"?delete=secrets.example.com").text("main"), "has none of that name", "What to do: leave that CustomResourceDefinition out")
	for _, typed := range []string{"", "other", "MINE"} {
		must.Contain(t, "not confirmed", v.refuses(http.StatusBadRequest, at, "confirm", typed), "nothing was removed, as its name was not typed")
	}
	var subs v1alpha1.SubscriptionList
	must.NoError(t, v.cluster.List(t.Context(), &subs))
	must.Equal(t, "nothing has gone", len(subs.Items), 1)
	for _, choice := range [][]string{{"delete", "kites.example.com"}, {"keep", "yes"}, {"shown", "delete=kites.example.com"}} {
		page = v.does(at, append(choice, "confirm", "mine")...)
		must.Contain(t, "a choice that was not shown", page.text("main"), "nothing was removed. This is what goes with it now", "Goes")
	}
	must.Contain(t, "the choice is kept", v.does(at, "confirm", "mine", "delete", "kites.example.com").text("main"), "kites.example.com 1 goes")
	must.Contain(t, "shown before", v.does(at+"/choice", "delete", "kites.example.com").text("main"), "kites.example.com 1 goes")
	must.NoError(t, v.cluster.List(t.Context(), &subs))
	must.Equal(t, "nothing has gone", len(subs.Items), 1)
	page = v.does(at, "confirm", "mine", "delete", "kites.example.com", "shown", "delete=kites.example.com")
	must.Contain(t, "begun", page.text("main"), "Subscription ops/mine is being removed")
	jobs := v.ends()
	must.Equal(t, "the end", []string{jobs[0].Title, jobs[0].Failure, jobs[0].Result}, []string{"Removal of Subscription ops/mine", "", "it is removed"})
	must.NoError(t, v.cluster.List(t.Context(), &subs))
	must.Equal(t, "it has gone", len(subs.Items), 0)
	page = v.shows(http.StatusOK, "/installed")
	must.Contain(t, "on every page, until it is dismissed", page.text("#jobs"), "Removal of Subscription ops/mine : it is removed", "Dismiss")
	must.Lack(t, "dismissed", v.does("/jobs/"+jobs[0].ID+"/end").text("#jobs"), "Removal")
}

// TestUninstallThatFails says what is in the way and how to continue, until the user has seen it.
func TestUninstallThatFails(t *testing.T) {
	for name, test := range map[string]struct {
		fails error
		want  []string
	}{
		"something is in the way": {errors.New("the webhook x.example.com does not answer"), []string{"failed", "delete ClusterServiceVersion ops/mine.v1.0.0: the webhook x.example.com does not answer", "What to do: remove what is in the way, then uninstall mine.v1.0.0, to continue"}},
		"a right is missing": {apierrors.NewForbidden(schema.GroupResource{Resource: "clusterserviceversions"}, "mine.v1.0.0", errors.New("no")),
			[]string{"is forbidden", "What to do: ask an administrator of the cluster for that right"}},
	} {
		v := newTour(t, func(c client.WithWatch) client.WithWatch {
			return interceptor.NewClient(c, interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
				if o.GetName() == "mine.v1.0.0" {
					return test.fails
				}
				return c.Delete(ctx, o, options...)
			}})
		}, subscribes("ops", "mine")...)
		v.does("/operator/Subscription/ops/mine/uninstall", "confirm", "mine")
		v.ends()
		must.Contain(t, name, v.shows(http.StatusOK, "/catalog").text("#jobs"), test.want...)
	}
}
