package console

import (
	"net/url"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	"golang.org/x/net/html"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// serving lets the catalogs of a list serve what has a digest.
func serving(objects []client.Object, digest string) []client.Object {
	for _, o := range objects {
		switch c := o.(type) {
		case *v1alpha1.CatalogSource:
			c.UID, c.Status.Conditions = "source", []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Serving", Message: "serving 2 packages of " + digest}}
		case *olmv1.ClusterCatalog:
			c.UID = "clustered"
			c.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: olmv1.ReasonAvailable}, {Type: olmv1.TypeServing, Status: "True", Reason: olmv1.ReasonAvailable}}
			c.Status.ResolvedSource = &olmv1.ResolvedCatalogSource{Image: &olmv1.ResolvedImageSource{Ref: "registry.example.com/toys@" + digest}}
		}
	}
	return objects
}

const noDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// TestSources: the catalogs of both APIs, and at length what one of them has, what is wrong with that, and what uses it.
func TestSources(t *testing.T) {
	ref := registryWith(t, map[string]string{"v1": toys + `{"schema":"olm.package","name":"torn","defaultChannel":"none"}` + "\n"})
	objects := serving(toysIn("ops", ref+"v1"), noDigest)
	broken := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "broken"}, Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: hostileText}}
	broken.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "ImageError", Message: hostileText}}
	v := newVisit(t, nil, append(objects, broken)...)
	text, root := v.page("/sources")
	v.harmless(text, root)
	must.Contain(t, "the page", textOf(root), "olm/toys CatalogSource", ref+"v1 sha256:0123456789ab", "never asks again", "serves", "olm/broken CatalogSource", "ImageError", "toys ClusterCatalog", "Add a catalog")
	for _, address := range []string{"/source/v0/olm/toys", "/source/v1/toys"} {
		text, root = v.page(address)
		v.harmless(text, root)
		must.Contain(t, address, textOf(root), "2 packages with 4 versions", "problems", "torn", "Error", "it serves sha256:0123456789ab until the manager looks for a new image", "fairlead catalog check "+ref+"v1", "What uses it")
	}
	_, root = v.page("/source/v0/olm/toys")
	must.Contain(t, "what uses it", textOf(root), "Subscription ops/my asks for package kite, and has installed kite.v1.0.0")
	text, root = v.page("/source/v0/olm/broken")
	v.harmless(text, root)
	var answer sourcePage
	must.Equal(t, "status", v.json("/source/v1/toys", &answer), 200)
	must.Equal(t, "for programs", answer.Content.Packages, 2)
	var failure map[string]string
	must.Equal(t, "status of one that is not there", v.json("/source/v1/none", &failure), 404)
	_, root = newVisit(t, nil).page("/sources")
	must.Contain(t, "without any", textOf(root), "There is no catalog here")
}

// TestAddingSources: of both APIs; what is wrong in the form is said, and nothing is created.
func TestAddingSources(t *testing.T) {
	v := newVisit(t, nil)
	_, root := v.page("/sources?namespace=")
	action, fields := v.form(root, "Add the catalog")
	send := func(set map[string]string) (string, int) {
		t.Helper()
		one := cloneValues(fields)
		for key, value := range set {
			one.Set(key, value)
		}
		return v.send(action, one, "/sources")
	}
	good := map[string]string{"api": "v0", "name": "toys", "namespace": "ops", "image": "registry.example.com/toys:v1", "priority": "-3", "poll": "", "secrets": "pull other"}
	for name, test := range map[string]struct{ key, value, want string }{
		"no name":              {"name", "", "The catalog cannot be called so"},
		"a name of a script":   {"name", "<script>", "The catalog cannot be called so"},
		"no namespace":         {"namespace", "", "The namespace of the CatalogSource is not one"},
		"no image":             {"image", " ", "The image cannot be"},
		"two images":           {"image", "a b", "The image cannot be"},
		"an image of nowhere":  {"image", "x", "write its reference with the host of its registry, as in quay.io/example/catalog:v1"},
		"a directory":          {"image", "./x", "The image cannot be"},
		"no such namespace":    {"namespace", "No", "The namespace of the CatalogSource is not one"},
		"a priority of words":  {"priority", "high", "The priority cannot be"},
		"a priority too high":  {"priority", "99999999999", "it has to be between"},
		"an interval of words": {"poll", "often", "The poll cannot be"},
		"a negative interval":  {"poll", "-1", "the interval cannot be negative"},
		"an interval too long": {"poll", "99999999", "it has 525600 at most"},
	} {
		t.Run(name, func(t *testing.T) {
			wrong := map[string]string{test.key: test.value}
			for key, value := range good {
				if key != test.key {
					wrong[key] = value
				}
			}
			text, status := send(wrong)
			must.Equal(t, "status", status, 400)
			must.Contain(t, "what is said", text, test.want, "correct the form")
			must.Lack(t, "what is said", text, "<script>\"")
		})
	}
	if err := v.cluster.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: "toys"}, &v1alpha1.CatalogSource{}); !apierrors.IsNotFound(err) {
		t.Errorf("one was created: %v", err)
	}
	text, status := send(good)
	must.Equal(t, "status", status, 303)
	must.Contain(t, "what is said", text, "Created CatalogSource ops/toys")
	source := &v1alpha1.CatalogSource{}
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: "toys"}, source))
	must.Equal(t, "priority", source.Spec.Priority, -3)
	must.Equal(t, "secrets", source.Spec.Secrets, []string{"pull", "other"})
	must.Equal(t, "interval", source.Spec.UpdateStrategy.RegistryPoll.Interval.Minutes(), 15.0)
	text, _ = v.page("/source/v0/ops/toys")
	must.Contain(t, "its page", text, "looked for every 15m<")
	text, _ = send(good)
	must.Contain(t, "once more", text, "has that image already")
	good["api"], good["secrets"], good["image"] = "v1", "", "registry.example.com/toys@"+noDigest
	text, _ = send(good)
	must.Contain(t, "what is said", text, "Created ClusterCatalog toys")
	clustered := &olmv1.ClusterCatalog{}
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Name: "toys"}, clustered))
	if clustered.Spec.Source.Image.PollIntervalMinutes != nil {
		t.Error("an image by its digest is looked for again")
	}
	good["secrets"], good["name"] = "pull", "other"
	text, status = send(good)
	must.Equal(t, "pull secrets of a ClusterCatalog", status, 400)
	must.Contain(t, "what is said", text, "pull secrets of the manager")
}

// TestChangingSources: what the form says, and nothing of an object that is another one by now.
func TestChangingSources(t *testing.T) {
	ref := registryWith(t, map[string]string{"v1": toys, "v2": toys})
	v := newVisit(t, nil, serving(toysIn("ops", ref+"v1"), noDigest)...)
	_, root := v.page("/source/v0/olm/toys")
	action, fields := v.form(root, "Change the catalog")
	text, _ := v.send(action, fields, "/source/v0/olm/toys")
	must.Contain(t, "nothing", text, "is so already: nothing was changed")
	fields.Set("mark", "another")
	_, status := v.send(action, fields, "/source/v0/olm/toys")
	must.Equal(t, "another object", status, 409)
	fields.Set("mark", "source")
	fields.Set("image", ref+"v2")
	fields.Set("priority", "5")
	fields.Set("poll", "30")
	fields.Set("secrets", "pull")
	text, _ = v.send(action, fields, "/source/v0/olm/toys")
	must.Contain(t, "what is said", text, "Changed CatalogSource olm/toys:", "image: "+ref+"v1 -&gt; "+ref+"v2", "priority: 0 -&gt; 5", "poll: 0s -&gt; 30m0s", "pull secrets: (nothing) -&gt; pull")
	fields.Set("priority", "high")
	_, status = v.send(action, fields, "/source/v0/olm/toys")
	must.Equal(t, "a wrong value", status, 400)

	action = "/source/v1/toys/change"
	text, _ = v.send(action, url.Values{"form": fields["form"], "mark": {"clustered"}, "image": {ref + "v1"}, "availability": {"Unavailable"}}, "/source/v1/toys")
	must.Contain(t, "what is said", text, "availability: (nothing) -&gt; Unavailable")
	clustered := &olmv1.ClusterCatalog{}
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Name: "toys"}, clustered))
	must.Equal(t, "availability", clustered.Spec.AvailabilityMode, olmv1.AvailabilityModeUnavailable)
}

// TestRemovingSources: after what depends on it was shown, and the object that was meant.
func TestRemovingSources(t *testing.T) {
	ref := registryWith(t, map[string]string{"v1": toys, "v2": toys})
	v := newVisit(t, nil, serving(toysIn("ops", ref+"v1"), noDigest)...)
	_, root := v.page("/source/v0/olm/toys?remove=ask")
	must.Contain(t, "before", textOf(root), "Remove CatalogSource toys?", "These keep what is installed, and get nothing newer without it: Subscription ops/my")
	action, fields := v.form(root, "Remove toys")
	wrong := cloneValues(fields)
	wrong.Set("mark", "")
	_, status := v.send(action, wrong, "/source/v0/olm/toys")
	must.Equal(t, "another object", status, 409)
	text, _ := v.send(action, fields, "/source/v0/olm/toys?remove=ask")
	must.Contain(t, "what is said", text, "Removed CatalogSource olm/toys. What was installed from it stays.")
	must.Lack(t, "the page", text, "/source/v0/olm/toys")
	_, root = v.page("/source/v1/toys?remove=ask")
	must.Contain(t, "before", textOf(root), "Nothing that you may see depends on it")
}

// TestSourcesOfATenant: only those of their namespace, with the rights that are missing, and nothing of another's by address.
func TestSourcesOfATenant(t *testing.T) {
	ref := registryWith(t, map[string]string{"v1": toys, "v2": toys})
	objects := serving(toysIn("ops", ref+"v1"), noDigest)
	mine := objects[2].DeepCopyObject().(client.Object)
	mine.SetNamespace("ops")
	mine.SetName("mine")
	v := newVisit(t, func(c client.WithWatch) client.WithWatch { return fakeapi.Tenant(c, "ops") }, append(objects, mine)...)
	v.missing = []string{"list subscriptions", "create catalogsources", "create clustercatalogs", "patch catalogsources", "delete catalogsources"}
	text, root := v.page("/sources")
	must.Contain(t, "the page", textOf(root), "ops/mine", "dev may not create catalogsources.operators.coreos.com in namespace ops", "dev may not create clustercatalogs.olm.operatorframework.io", "ClusterCatalogs")
	must.Lack(t, "the page", text, "olm/toys")
	_, root = v.page("/source/v0/ops/mine?remove=ask")
	must.Contain(t, "their own", textOf(root), "dev may not patch catalogsources", "dev may not delete catalogsources", "only the Subscriptions of namespace ops are checked")
	var failure map[string]string
	for _, address := range []string{"/source/v0/olm/toys", "/source/v1/toys", "/source/v0/olm/toys/update"} {
		must.Equal(t, address, v.json(address, &failure), 403)
	}
	for _, action := range []string{"/source/v0/olm/toys/change", "/source/v0/olm/toys/remove", "/source/v1/toys/remove"} {
		text, status := v.send(action, url.Values{"form": {token(root)}, "mark": {"source"}}, "/sources")
		if status != 403 || strings.Contains(text, "Removed") {
			t.Errorf("%s: %d", action, status)
		}
	}
}

// TestUpdateOfASource: what another image changes in the content, and for what is installed.
func TestUpdateOfASource(t *testing.T) {
	ref := registryWith(t, map[string]string{"v1": toys, "v2": strings.ReplaceAll(toys, `"wind"`, `"string"`), "v3": strings.ReplaceAll(toys, `"kite.v1.1.0","replaces":"kite.v1.0.0"`, `"kite.v1.1.0"`)})
	objects := toysIn("ops", ref+"v1")
	objects[2].(*v1alpha1.CatalogSource).UID = "source"
	v := newVisit(t, nil, objects...)
	_, root := v.page("/source/v0/olm/toys/update")
	must.Contain(t, "before", textOf(root), "Name another image of the catalog, or compare with what its tag has now")
	_, root = v.page("/source/v0/olm/toys/update?image=")
	must.Contain(t, "its own tag", textOf(root), "nothing would change")
	_, root = v.page("/source/v0/olm/toys/update?image=" + url.QueryEscape(ref+"v2"))
	must.Contain(t, "a newer one", textOf(root), "ops/my Subscription, package kite", "kite.v1.0.0", "would be upgraded", "kite.v1.1.0", "kite.v2.0.0", "1 packages differ", "kite", "fairlead catalog diff")
	text, root := v.page("/source/v0/olm/toys/update?image=" + url.QueryEscape(ref+"none"))
	v.harmless(text, root)
	must.Contain(t, "one that is not there", text, "What to do")
	var answer updatePage
	must.Equal(t, "status", v.json("/source/v0/olm/toys/update?image="+url.QueryEscape(ref+"v2"), &answer), 200)
	must.Equal(t, "for programs", answer.Update.Effects[0].Effect, "upgrades")
	var failure map[string]string
	must.Equal(t, "a directory", v.json("/source/v0/olm/toys/update?image=/etc", &failure), 400)
	must.Equal(t, "no reference", v.json("/source/v0/olm/toys/update?image="+url.QueryEscape("<script>"), &failure), 400)
}

// TestUpdateInTheCluster reads no image, and says which command does it.
func TestUpdateInTheCluster(t *testing.T) {
	ref := registryWith(t, map[string]string{"v1": toys, "v2": toys + "\n"})
	v := newVisit(t, nil, serving(toysIn("ops", ref+"v1"), noDigest)...)
	v.console.OwnMachine = false
	_, root := v.page("/source/v0/olm/toys/update?image=" + url.QueryEscape(ref+"v2"))
	must.Contain(t, "the page", textOf(root), "Images that you name are not read by a console in the cluster", "fairlead catalog diff", "@"+noDigest+" "+ref+"v2", "fairlead plan NAME --catalog olm/toys="+ref+"v2")
	must.Lack(t, "the page", textOf(root), "Compare", "would be upgraded")
	var failure map[string]string
	must.Equal(t, "for programs", v.json("/source/v0/olm/toys/update?image=169.254.169.254/a:b", &failure), 403)
}

// token is what the forms of a page carry.
func token(root *html.Node) string {
	for _, input := range elements(root, "input", "") {
		if name, _ := attributeOf(input, "name"); name == "form" {
			value, _ := attributeOf(input, "value")
			return value
		}
	}
	return ""
}
