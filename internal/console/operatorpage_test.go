package console

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// waitsForApproval lets the plan of an operator wait for approval.
func waitsForApproval(sub *v1alpha1.Subscription, _ *v1alpha1.ClusterServiceVersion) {
	sub.Status.InstallPlanRef = &corev1.ObjectReference{Name: "install-1"}
	sub.Status.InstalledCSV, sub.Status.CurrentCSV = "", "slow.v1.0.0"
	sub.Status.Conditions[0] = v1alpha1.SubscriptionCondition{Type: "Ready", Status: "False", Reason: "RequiresApproval", Message: "it waits"}
}

// manyInstalled are operators of both APIs in three states.
func manyInstalled() []client.Object {
	plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1"}}
	plan.Status.Phase = v1alpha1.InstallPlanPhaseRequiresApproval
	objects := append(subscribes("ops", "slow", waitsForApproval)[:1], plan)
	objects = append(objects, subscribes("apps", "broken", fails)...)
	objects = append(objects, subscribes("apps", "fine")...)
	return append(objects, extended("apps", "modern", "a")...)
}

// TestInstalled: all operators of both APIs by namespace, counted, and filtered by what the address asks for.
func TestInstalled(t *testing.T) {
	v := newTour(t, nil, manyInstalled()...)
	page := v.shows(http.StatusOK, "/installed")
	must.Contain(t, "counts", page.text("#found"), "2 work, 1 needs attention, 1 waits for approval")
	var names []string
	for _, a := range page.all("a", "href=/operator/") {
		names = append(names, textOf(a)+" "+attribute(a, "href"))
	}
	must.Equal(t, "operators, by namespace", names, []string{"broken /operator/Subscription/apps/broken", "fine /operator/Subscription/apps/fine", "modern /operator/ClusterExtension/apps/modern", "slow /operator/Subscription/ops/slow"})
	for address, want := range map[string]string{
		"/installed?state=fails":          "broken",
		"/installed?state=waits":          "slow",
		"/installed?state=works":          "fine modern",
		"/installed?api=v1":               "modern",
		"/installed?api=v0&state=works":   "fine",
		"/installed?namespace=ops":        "slow",
		"/installed?q=BROK":               "broken",
		"/installed?q=apps+works+nothing": "",
		"/installed?q=not+work&api=v0":    "",
		"/installed?page=999":             "broken fine modern slow",
		"/installed?q=DEPLOYMENT":         "broken",
	} {
		var found []string
		for _, a := range v.shows(http.StatusOK, address).all("a", "href=/operator/") {
			found = append(found, textOf(a))
		}
		must.Equal(t, address, strings.Join(found, " "), want)
	}
	must.Contain(t, "nothing fits", v.shows(http.StatusOK, "/installed?q=nothing-like-that").text("#found"), "No operator is like that. Show all 4.")
	must.Contain(t, "an empty cluster", newTour(t, nil).shows(http.StatusOK, "/installed").text("#found"), "Nothing is installed here.", "See what the catalogs offer.")
}

// TestInstalledForPrograms has the same values, and waits until they are compared with the catalogs.
func TestInstalledForPrograms(t *testing.T) {
	v := newTour(t, nil, manyInstalled()...)
	page := answers[installedPage](v, "/installed?namespace=apps&state=works")
	must.Equal(t, "reading", page.Reading, false)
	must.Equal(t, "found", []int{page.Found, page.Total, len(page.Operators)}, []int{2, 3, 2})
	must.Equal(t, "summary", page.Summary, "2 work, 1 needs attention")
	must.Equal(t, "standing", page.Operators[0].Standing, ops.Works)
	if page.Operators[0].Allowed == "" && page.Operators[0].HeldBy == "" && len(page.Notes) == 0 {
		t.Errorf("nothing is told of the catalogs: %+v", page)
	}
}

// TestInstalledIsBounded: a page has so many operators, and leads to the others.
func TestInstalledIsBounded(t *testing.T) {
	var objects []client.Object
	for i := range installedPerPage + 5 {
		name := "op" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26))
		objects = append(objects, subscribes("ops", name)[0])
	}
	v := newTour(t, nil, objects...)
	page := v.shows(http.StatusOK, "/installed")
	must.Equal(t, "operators", len(page.all("a", "href=/operator/")), installedPerPage)
	must.Equal(t, "the next page", len(page.all("a", "rel=next")), 1)
	must.Equal(t, "the rest", len(v.shows(http.StatusOK, "/installed?page=2").all("a", "href=/operator/")), 5)
}

const hostile = `<script>alert(1)</script><img src=x onerror=alert(2)>"'` + "`" + `{{.}}`

// TestOperatorThatFails: the page names the cause, says what to do, and shows the way to it as a tree; what is hostile is text.
func TestOperatorThatFails(t *testing.T) {
	objects := append(subscribes("ops", "broken", fails, func(sub *v1alpha1.Subscription, csv *v1alpha1.ClusterServiceVersion) {
		csv.Status.Message = hostile
		sub.Status.Conditions[0].Message = hostile
		sub.Spec.Channel = hostile
	}), deployed("ops", "broken", "Back-off pulling image "+hostile)...)
	objects = append(objects, kiteDefinition(), &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "e"}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "ops", Name: "broken-7d-abc"},
		Type: "Warning", Reason: "Failed", Message: hostile, LastTimestamp: metav1.NewTime(time.Now().Add(-10 * time.Minute))})
	v := newTour(t, nil, objects...)
	page := v.shows(http.StatusOK, "/operator/Subscription/ops/broken")
	must.Contain(t, "the head", page.text("#head"), "Pod broken-7d-abc ImagePullBackOff", "container manager waits: ImagePullBackOff: Back-off pulling image "+hostile, "What to do: make the image reachable")
	must.Contain(t, "the tree", page.text("#tree"), "Subscription broken", "ClusterServiceVersion broken.v1.0.0", "Deployment broken", "Pod broken-7d-abc", "CustomResourceDefinitions 1 ✓ Kite kites.example.com, v1")
	depth, pod := 0, page.all("li", "")
	for _, li := range pod {
		if n := 0; strings.HasPrefix(textOf(li), "✗ does not work: Pod") {
			for p := li.Parent; p != nil; p = p.Parent {
				if p.Data == "ul" {
					n++
				}
			}
			depth = n
		}
	}
	must.Equal(t, "the pod is below the Deployment, that below the ClusterServiceVersion and the Subscription", depth, 4)
	must.Contain(t, "conditions", page.text("#conditions-of"), "it is not yet as it is asked for", hostile)
	if bad := page.all("span", "class=badge bad"); !strings.Contains(textOf(bad[len(bad)-1].Parent), "Ready False") {
		t.Error("a condition that is bad is not marked so")
	}
	must.Contain(t, "events", page.text("#events-of"), "Failed", "Pod broken-7d-abc", "10m ago", hostile)
	must.Equal(t, "title", page.text("title"), "broken · Fairlead")
	if len(page.all("img", "onerror")) > 0 {
		t.Error("something hostile is no text")
	}
	at := answers[operatorPage](v, "/operator/Subscription/ops/broken")
	must.Equal(t, "the same for programs", []string{at.Standing, at.Cause.Name}, []string{ops.Fails, "broken-7d-abc"})
}

// TestOperatorOfAnExtensionPage has its history, with the ways back.
func TestOperatorOfAnExtensionPage(t *testing.T) {
	v := newTour(t, nil, extended("apps", "modern", "a", "b")...)
	page := v.shows(http.StatusOK, "/operator/ClusterExtension/apps/modern")
	must.Contain(t, "the head", page.text("#head"), "works", "Version 2.0.0 is installed")
	must.Contain(t, "history", page.text("#history-of"), "1.0.0", "archived", "2.0.0", "installed", "go back to revision 1")
	must.Equal(t, "compare", len(page.all("a", "/diff?from=1&to=2")), 1)
	must.Contain(t, "elsewhere", v.shows(http.StatusNotFound, "/operator/ClusterExtension/ops/modern").text("main"), "What to do: it may have been removed meanwhile")
	must.Contain(t, "no kind", v.shows(http.StatusNotFound, "/operator/Secret/ops/modern").text("main"), "What to do: choose one of what is installed")
	copied := subscribes("ops", "copied")[1]
	copied.SetLabels(map[string]string{v1alpha1.CopiedFromLabel: "elsewhere"})
	must.NoError(t, v.cluster.Create(t.Context(), copied))
	must.Contain(t, "a copy", v.shows(http.StatusBadRequest, "/operator/ClusterServiceVersion/ops/copied.v1.0.0").text("main"), "it is a copy of the one in namespace elsewhere", "What to do: choose the operator among those that are installed")
	must.Contain(t, "none", v.shows(http.StatusNotFound, "/operator/Subscription/ops/none").text("main"), "What to do:")
}

// TestTenantOfTheConsole: another tenant's operator is refused with what to do, by every address; what is forbidden of one's own is noted.
func TestTenantOfTheConsole(t *testing.T) {
	objects := append(subscribes("ops", "mine", fails), deployed("ops", "mine", "no image")...)
	objects = append(objects, subscribes("else", "theirs")...)
	objects = append(objects, extended("else", "modern", "a", "b")...)
	objects = append(objects, kiteDefinition(), aKite("else", "secret-kite", "x"), aKite("ops", "my-kite", "x"))
	v := newTour(t, func(c client.WithWatch) client.WithWatch { return fakeapi.Tenant(c, "ops") }, objects...)
	v.lacking = []string{"list subscriptions"} // in all namespaces
	for _, address := range []string{"/operator/Subscription/else/theirs", "/operator/ClusterServiceVersion/else/theirs.v1.0.0", "/operator/ClusterExtension/else/modern", "/operator/ClusterExtension/else/modern/rollback",
		"/operator/ClusterExtension/else/modern/diff?from=1&to=2", "/operator/Subscription/else/theirs/upgrade?channel=x", "/operator/Subscription/else/theirs/uninstall", "/operator/Subscription/else/theirs/diff",
		"/operands/kites.example.com?namespace=else", "/operands/kites.example.com/object?namespace=else&in=else&object=secret-kite", "/operands/kites.example.com/object?in=else&object=secret-kite", "/operands?namespace=else", "/installed?namespace=else"} {
		must.Contain(t, address, v.shows(http.StatusForbidden, address).text("main"), "What to do: ask an administrator of the cluster for that right, or choose a namespace of yours")
	}
	for _, address := range []string{"hold", "release", "upgrade", "uninstall"} {
		shown := map[string]string{"upgrade": upgradeChoice("beta", "")}[address]
		v.refuses(http.StatusForbidden, "/operator/Subscription/else/theirs/"+address, "channel", "beta", "confirm", "theirs", "shown", shown)
	}
	v.refuses(http.StatusForbidden, "/operator/ClusterExtension/else/modern/rollback", "to", "1")
	v.refuses(http.StatusForbidden, "/operands/kites.example.com/delete", "namespace", "ops", "in", "else", "object", "secret-kite", "confirm", "secret-kite")
	page := v.shows(http.StatusOK, "/operator/Subscription/ops/mine")
	must.Contain(t, "their own", page.text("#head"), "Pod mine-7d-abc")
	must.Contain(t, "notes", page.text("main"), "CustomResourceDefinitions cannot be read as user dev")
	var list client.ObjectList = &v1alpha1.SubscriptionList{}
	must.NoError(t, v.cluster.List(t.Context(), list))
	must.Equal(t, "nothing has gone", len(list.(*v1alpha1.SubscriptionList).Items), 2)
	found := answers[operandKindPage](v, "/operands/kites.example.com")
	must.Equal(t, "custom resources of theirs alone", []int{found.Count, len(found.In)}, []int{1, 1})
}

// TestMissingRights: buttons are disabled, with the right that is missing.
func TestMissingRights(t *testing.T) {
	v := newTour(t, nil, append(append(subscribes("ops", "mine"), kiteDefinition(), aKite("ops", "a", "x")), extended("apps", "modern", "a", "b")...)...)
	v.lacking = []string{"patch subscriptions", "delete clusterserviceversions", "patch clusterextensions", "delete clusterextensions", "create kites", "delete kites"}
	for address, want := range map[string]map[string]string{
		"/operator/Subscription/ops/mine":                                  {"Upgrade": "dev may not patch subscriptions.operators.coreos.com in namespace ops", "Hold its upgrades": "may not patch", "Uninstall": "dev may not delete clusterserviceversions.operators.coreos.com in namespace ops"},
		"/operator/Subscription/ops/mine/uninstall":                        {"Uninstall it": "may not delete clusterserviceversions"},
		"/operator/ClusterExtension/apps/modern":                           {"Upgrade": "dev may not patch clusterextensions.olm.operatorframework.io", "Uninstall": "may not delete clusterextensions"},
		"/operator/ClusterExtension/apps/modern/rollback":                  {"Go back to revision 1": "may not patch clusterextensions"},
		"/operands/kites.example.com?namespace=ops":                        {"Create one": "dev may not create kites.example.com in namespace ops"},
		"/operands/kites.example.com/object?namespace=ops&in=ops&object=a": {"Delete it": "dev may not delete kites.example.com in namespace ops"},
	} {
		page := v.shows(http.StatusOK, address)
		for text, missing := range want {
			b := page.button(text)
			if !disabled(b) {
				t.Errorf("%s: %s can be used", address, text)
			}
			must.Contain(t, address, textOf(b.Parent), missing)
		}
	}
	v.lacking = nil
	if disabled(v.shows(http.StatusOK, "/operator/Subscription/ops/mine/uninstall").button("Uninstall it")) {
		t.Error("who may do it cannot")
	}
}

// TestHoldAndRelease change the upgrade window, and nothing when there is nothing to change.
func TestHoldAndRelease(t *testing.T) {
	v := newTour(t, nil, append(subscribes("ops", "mine"), extended("apps", "modern", "a")...)...)
	for _, at := range []string{"/operator/Subscription/ops/mine", "/operator/ClusterExtension/apps/modern"} {
		page := v.does(at+"/hold", "reason", "wait for "+hostile)
		must.Contain(t, at, page.text("main"), "held; what is installed stays")
		must.Contain(t, at, page.text("#head"), "held Nothing newer begins until it is released: wait for "+hostile)
		must.Contain(t, "twice", v.does(at+"/hold", "reason", "wait for "+hostile).text("main"), "nothing to change, it is held already")
		must.Contain(t, at, v.does(at+"/release").text("main"), "released")
		must.Contain(t, "twice", v.does(at+"/release").text("main"), "nothing to change, it is not held by a person")
	}
	v.refuses(http.StatusBadRequest, "/operator/ClusterServiceVersion/ops/mine.v1.0.0/hold")
	if w := v.ask(http.MethodPost, "/operator/Subscription/ops/mine/hold", nil); w.Code != http.StatusForbidden {
		t.Errorf("a form without token: %d", w.Code)
	}
	var sub v1alpha1.Subscription
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: "mine"}, &sub))
	must.Equal(t, "what is left", len(sub.Annotations), 0)
}

// TestUpgrade shows the plan before anything is changed, changes what is asked for, and follows what comes of it.
func TestUpgrade(t *testing.T) {
	v := newTour(t, nil, append(subscribes("ops", "mine"), extended("apps", "modern", "a")...)...)
	page := v.shows(http.StatusOK, "/operator/Subscription/ops/mine/upgrade")
	must.Lack(t, "before it is asked for", page.text("main"), "The plan", "Change it")
	page = v.shows(http.StatusOK, "/operator/Subscription/ops/mine/upgrade?channel=beta")
	must.Contain(t, "the plan", page.text("main"), "The plan channel: stable -> beta", "Change it")
	var sub v1alpha1.Subscription
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: "mine"}, &sub))
	must.Equal(t, "nothing was changed", sub.Spec.Channel, "stable")
	must.Contain(t, "the same channel", v.shows(http.StatusOK, "/operator/Subscription/ops/mine/upgrade?channel=stable").text("main"), "What it asks for stays as it is.")
	page = v.does("/operator/Subscription/ops/mine/upgrade", "channel", "beta", "shown", upgradeChoice("stable", ""))
	must.Contain(t, "another channel than the plan was shown of", page.text("main"), "nothing was changed. This is the plan of what it says now", "channel: stable -> beta")
	page = v.does("/operator/Subscription/ops/mine/upgrade/plan", "channel", "beta")
	must.Contain(t, "the plan of the form", page.text("main"), "channel: stable -> beta")
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: "mine"}, &sub))
	must.Equal(t, "nothing was changed", sub.Spec.Channel, "stable")
	shown := attribute(page.all("input", "name=shown")[0], "value")
	page = v.does("/operator/Subscription/ops/mine/upgrade", "channel", "beta", "shown", shown)
	must.Contain(t, "done", page.text("main"), "Subscription ops/mine was changed: channel: stable -> beta")
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: "mine"}, &sub))
	must.Equal(t, "channel", sub.Spec.Channel, "beta")
	jobs := v.ends()
	must.Equal(t, "what came of it", []string{jobs[0].Title, jobs[0].Result, jobs[0].Failure}, []string{"Upgrade of Subscription ops/mine", "mine.v1.0.0 is installed and works", ""})

	must.Contain(t, "the plan of an extension", v.shows(http.StatusOK, "/operator/ClusterExtension/apps/modern/upgrade?channel=stable,beta&version=3.0.0").text("main"), "version: (nothing) -> 3.0.0", "channels: stable -> stable, beta", "Change it")
	v.does("/operator/ClusterExtension/apps/modern/upgrade", "channel", "stable", "version", "3.0.0", "shown", upgradeChoice("stable", "3.0.0"))
	var e olmv1.ClusterExtension
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Name: "modern"}, &e))
	must.Equal(t, "version", e.Spec.Source.Catalog.Version, "3.0.0")
	must.Contain(t, "nothing to change", v.does("/operator/ClusterExtension/apps/modern/upgrade", "channel", "stable", "version", "3.0.0", "shown", upgradeChoice("stable", "3.0.0")).text("main"), "nothing to change")
	v.refuses(http.StatusBadRequest, "/operator/ClusterServiceVersion/ops/mine.v1.0.0/upgrade")
}
