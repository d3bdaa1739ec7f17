package console

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// toys is a catalog: kite, of which 1.1.0 needs string and 2.0.0 something that there is not, and string.
const toys = `{"schema":"olm.package","name":"kite","defaultChannel":"stable"}
{"schema":"olm.channel","package":"kite","name":"stable","entries":[{"name":"kite.v1.0.0"},{"name":"kite.v1.1.0","replaces":"kite.v1.0.0"},{"name":"kite.v2.0.0","replaces":"kite.v1.1.0","skips":["kite.v1.0.0"]}]}
{"schema":"olm.bundle","package":"kite","name":"kite.v1.0.0","image":"registry.example.com/kite:v1.0.0","properties":[{"type":"olm.package","value":{"packageName":"kite","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"kite","name":"kite.v1.1.0","image":"registry.example.com/kite:v1.1.0","properties":[{"type":"olm.package","value":{"packageName":"kite","version":"1.1.0"}},{"type":"olm.package.required","value":{"packageName":"string","versionRange":">=1.0.0"}}]}
{"schema":"olm.bundle","package":"kite","name":"kite.v2.0.0","image":"registry.example.com/kite:v2.0.0","properties":[{"type":"olm.package","value":{"packageName":"kite","version":"2.0.0"}},{"type":"olm.package.required","value":{"packageName":"wind","versionRange":">=1.0.0"}}]}
{"schema":"olm.package","name":"string","defaultChannel":"stable"}
{"schema":"olm.channel","package":"string","name":"stable","entries":[{"name":"string.v1.0.0"}]}
{"schema":"olm.bundle","package":"string","name":"string.v1.0.0","image":"registry.example.com/string:v1.0.0","properties":[{"type":"olm.package","value":{"packageName":"string","version":"1.0.0"}}]}
`

// registryWith has images of catalogs, by the names of their tags: the reference of each begins with what it returns.
func registryWith(t *testing.T, catalogs map[string]string) string {
	t.Helper()
	registry := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(registry.Close)
	name := strings.TrimPrefix(registry.URL, "http://") + "/toys:"
	for tag, content := range catalogs {
		must.Value(image.Push(t.Context(), name+tag, fstest.MapFS{"configs/catalog.json": {Data: []byte(content)}}, image.CatalogLabels(), image.PushOptions{}))(t)
	}
	return name
}

// toysIn is a namespace with kite 1.0.0, a Subscription to it, and the catalogs of both APIs.
func toysIn(namespace, ref string) []client.Object {
	meta := func(in, name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: in, Name: name} }
	sub := &v1alpha1.Subscription{ObjectMeta: meta(namespace, "my"), Spec: &v1alpha1.SubscriptionSpec{Package: "kite", Channel: "stable", CatalogSource: "toys", CatalogSourceNamespace: "olm"}}
	sub.Status.InstalledCSV, sub.Status.CurrentCSV = "kite.v1.0.0", "kite.v1.0.0"
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: meta(namespace, "kite.v1.0.0")}
	csv.Status.Phase = v1alpha1.CSVPhaseSucceeded
	source := &v1alpha1.CatalogSource{ObjectMeta: meta("olm", "toys"), Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref}}
	clustered := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "toys"}}
	clustered.Spec.Source = olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: ref}}
	return []client.Object{sub, csv, source, clustered, &operatorsv1.OperatorGroup{ObjectMeta: meta(namespace, "all")}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}}
}

// TestWhy: each question is answered with its reasons as parts of the page, at an address that can be shared.
func TestWhy(t *testing.T) {
	ref := registryWith(t, map[string]string{"v1": toys, "v2": strings.ReplaceAll(toys, `"wind"`, `"string"`)})
	v := newVisit(t, nil, toysIn("ops", ref+"v1")...)
	_, root := v.page("/why")
	must.Contain(t, "before anything is asked", textOf(root), "Ask why an operator is installed", "In namespace")

	for name, test := range map[string]struct {
		address string
		want    []string
	}{
		"why":                 {"/why?name=kite&namespace=ops", []string{"Why kite?", "to be installed kite.v1.1.0 would be installed in place of kite.v1.0.0", "Because subscription my requires at least one of", "preferred over", "fairlead why kite --namespace ops"}},
		"why, a dependency":   {"/why?kind=why&name=string.v1.0.0&namespace=ops", []string{"to be installed string.v1.0.0 would be installed, from channel stable of catalog olm/toys", "kite.v1.1.0 requires an operator from package string"}},
		"why, unknown":        {"/why?name=kyte&namespace=ops", []string{"absent", "no catalog has a package or bundle kyte"}},
		"why not":             {"/why?kind=why-not&name=kite&version=2.0.0&namespace=ops", []string{"Why not kite 2.0.0?", "not chosen", "wind", "fairlead why-not kite@2.0.0"}},
		"why not, all":        {"/why?kind=why-not&name=kite&namespace=ops", []string{"kite.v1.1.0", "would be installed", "channel stable of catalog olm/toys"}},
		"why not, unknown":    {"/why?kind=why-not&name=kyte&namespace=ops", []string{"no catalog has a package of that name", "What to do"}},
		"resolve":             {"/why?kind=resolve&namespace=ops", []string{"What would be installed?", "2 to install", "kite.v1.1.0", "string.v1.0.0", "dependency", "What cannot be had", "kite.v2.0.0", "Catalogs in view read olm/toys"}},
		"resolve, and one":    {"/why?kind=resolve&namespace=ops&subscribe=string", []string{"2 to install", "string.v1.0.0 1.0.0 stable olm/toys subscription", "fairlead resolve --namespace ops --subscribe string"}},
		"resolve, extension":  {"/why?kind=resolve&api=v1&name=kite&version=%3C2.0.0", []string{"ClusterExtension kite", "string", "fairlead resolve --extension kite --version '<2.0.0'"}},
		"resolve, a new one":  {"/why?kind=resolve&api=v1&name=string", []string{"ClusterExtension string: install", "string.v1.0.0", "can be had"}},
		"with another image":  {"/why?kind=why-not&name=kite&version=2.0.0&namespace=ops&catalog=olm/toys%3D" + url.QueryEscape(ref+"v2"), []string{"kite.v2.0.0 channel stable of catalog olm/toys would be installed"}},
		"an image of nowhere": {"/why?kind=why&name=kite&namespace=ops&catalog=toys%3D/etc", []string{"The catalog cannot be understood", "write NAME=IMAGE"}},
		"a wrong question":    {"/why?kind=whence&name=kite", []string{"There is no question", "correct the question"}},
		"a wrong API":         {"/why?api=v3&name=kite", []string{"There is no API"}},
		"a wrong name":        {"/why?name=a%20b%3Cscript%3E", []string{"The operator cannot be called", "correct the question"}},
		"a wrong request":     {"/why?kind=resolve&subscribe=:", []string{"The Subscription to add cannot be understood"}},
		"too many":            {"/why?kind=resolve&subscribe=" + strings.Repeat("a+", 21), []string{"it may have 20"}},
	} {
		t.Run(name, func(t *testing.T) {
			text, root := v.page(test.address)
			v.harmless(text, root)
			must.Contain(t, "the page", textOf(root), test.want...)
		})
	}
	text, _ := v.page("/why?kind=why-not&name=kite&version=2.0.0&namespace=ops&catalog=olm/toys%3D" + url.QueryEscape(ref+"v2"))
	must.Lack(t, "with another image", text, "wind")

	var answer whyPage
	must.Equal(t, "status", v.json("/why?name=kite&namespace=ops", &answer), 200)
	must.Equal(t, "for programs", answer.Answer.Why.Operator, "kite.v1.1.0")
	var failure map[string]string
	must.Equal(t, "status of an error", v.json("/why?kind=whence&name=kite", &failure), 400)
	must.Equal(t, "remedy", failure["remedy"], "correct the question, and ask again")
}

// TestWhyAgain: an answer is kept as long as what it is about is the same, and no longer.
func TestWhyAgain(t *testing.T) {
	ref := registryWith(t, map[string]string{"v1": toys})
	v := newVisit(t, nil, toysIn("ops", ref+"v1")...)
	_, root := v.page("/why?kind=resolve&namespace=ops")
	must.Contain(t, "the page", textOf(root), "2 to install")
	sub := &v1alpha1.Subscription{}
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: "my"}, sub))
	sub.Annotations = map[string]string{"operators.fairlead.dev/version-range": "1.0.0"}
	must.NoError(t, v.cluster.Update(t.Context(), sub))
	_, root = v.page("/why?kind=resolve&namespace=ops")
	must.Contain(t, "the page", textOf(root), "Nothing to install")
}

// TestWhyOfATenant: a user of one namespace gets answers about it, and about no other.
func TestWhyOfATenant(t *testing.T) {
	ref := registryWith(t, map[string]string{"v1": toys})
	objects := append(toysIn("ops", ref+"v1"), toysIn("secret", ref+"v1")[:2]...)
	v := newVisit(t, func(c client.WithWatch) client.WithWatch { return fakeapi.Tenant(c, "ops") }, objects...)
	v.missing = []string{"list subscriptions"}
	_, root := v.page("/why?name=kite")
	must.Contain(t, "the page", textOf(root), "in namespace ops now", "kite.v1.0.0 is installed, and stays", "packages come from PackageManifests")
	text, _ := v.page("/why?name=kite&namespace=secret")
	must.Contain(t, "another namespace", text, "forbidden", "ask an administrator of the cluster for that right")
	must.Lack(t, "another namespace", text, "is installed, and")
	var failure map[string]string
	must.Equal(t, "status for programs", v.json("/why?name=kite&namespace=secret", &failure), 403)
}

// TestImagesOfUsers: a console in the cluster reads no image that a user names, and says what to do.
func TestImagesOfUsers(t *testing.T) {
	ref := registryWith(t, map[string]string{"v1": toys})
	v := newVisit(t, nil, toysIn("ops", ref+"v1")...)
	v.console.OwnMachine = false
	asked := 0
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer inside.Close()
	text, _ := v.page("/why?kind=resolve&namespace=ops&catalog=toys%3D" + strings.TrimPrefix(inside.URL, "http://") + "/meta:latest")
	must.Contain(t, "the page", text, "is not read by a console in the cluster", "run fairlead console on your machine", "Images that you name are not read")
	must.Lack(t, "the page", text, "With other images of catalogs")
	must.Equal(t, "read", asked, 0)
	_, root := v.page("/why?kind=resolve&namespace=ops")
	must.Contain(t, "what the cluster has", textOf(root), "2 to install")
}
