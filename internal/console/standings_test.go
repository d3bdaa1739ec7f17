package console

import (
	"encoding/base64"
	"net/http"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// offeredBy is a catalog in a ConfigMap that has three versions of a package, two of them in the channel stable.
func offeredBy() []client.Object {
	bundle := func(version string) string {
		csv := `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"mine.v` + version + `"},"spec":{"version":"` + version + `","displayName":"Mine",
			"installModes":[{"type":"OwnNamespace","supported":true}],"install":{"strategy":"deployment","spec":{"deployments":[{"name":"mine","spec":{"selector":{"matchLabels":{"app":"mine"}},
			"template":{"metadata":{"labels":{"app":"mine"}},"spec":{"containers":[{"name":"manager","image":"registry.example.com/mine:` + version + `"}]}}}}]}}}}`
		return `{"schema":"olm.bundle","name":"mine.v` + version + `","package":"mine","properties":[{"type":"olm.package","value":{"packageName":"mine","version":"` + version + `"}},
			{"type":"olm.bundle.object","value":{"data":"` + base64.StdEncoding.EncodeToString([]byte(csv)) + `"}}]}`
	}
	content := `{"schema":"olm.package","name":"mine","defaultChannel":"stable"}
{"schema":"olm.channel","package":"mine","name":"stable","entries":[{"name":"mine.v1.0.0"},{"name":"mine.v1.1.0","replaces":"mine.v1.0.0"}]}
{"schema":"olm.channel","package":"mine","name":"beta","entries":[{"name":"mine.v1.0.0"},{"name":"mine.v1.1.0","replaces":"mine.v1.0.0"},{"name":"mine.v2.0.0","replaces":"mine.v1.1.0"}]}
` + bundle("1.0.0") + "\n" + bundle("1.1.0") + "\n" + bundle("2.0.0") + "\n"
	source := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "cat"}, Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeConfigmap, ConfigMap: "content"},
		Status: v1alpha1.CatalogSourceStatus{GRPCConnectionState: &v1alpha1.GRPCConnectionState{LastObservedState: "READY"}}}
	group := &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "group"}, Status: operatorsv1.OperatorGroupStatus{Namespaces: []string{"ops"}}}
	manifest := &packagesv1.PackageManifest{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "mine"}, Status: packagesv1.PackageManifestStatus{PackageName: "mine", CatalogSource: "cat", CatalogSourceNamespace: "olm",
		DefaultChannel: "stable", Channels: []packagesv1.PackageChannel{{Name: "stable", CurrentCSV: "mine.v1.1.0"}, {Name: "beta", CurrentCSV: "mine.v2.0.0"}}}}
	return []client.Object{source, group, manifest, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}}, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "content"}, Data: map[string]string{"catalog.json": content}}}
}

// TestComparedWithCatalogs: what fairlead outdated tells stands beside each operator, as soon as the catalogs were read.
func TestComparedWithCatalogs(t *testing.T) {
	v := newTour(t, nil, append(offeredBy(), subscribes("ops", "mine")...)...)
	row := answers[installedPage](v, "/installed").Operators[0]
	must.Equal(t, "how it stands", []string{row.Next, row.Allowed, row.Head, row.Latest, row.LatestIn}, []string{"mine.v1.1.0", "mine.v1.1.0", "mine.v1.1.0", "mine.v2.0.0", "olm/cat"})
	must.Contain(t, "on the page", v.shows(http.StatusOK, "/installed").text("#found"), "1.0.0 mine.v1.1.0 mine.v1.1.0 mine.v2.0.0 in olm/cat")
	compared := answers[operatorPage](v, "/operator/Subscription/ops/mine").Compared
	must.Equal(t, "on its own page", []string{compared.Next, compared.Latest}, []string{"mine.v1.1.0", "mine.v2.0.0"})

	var sub v1alpha1.Subscription
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: "mine"}, &sub))
	sub.Spec.Channel = "beta"
	must.NoError(t, v.cluster.Update(t.Context(), &sub))
	row = answers[installedPage](v, "/installed").Operators[0]
	must.Equal(t, "after another channel was chosen", []string{row.Allowed, row.Head}, []string{"mine.v2.0.0", "mine.v2.0.0"})
}

// TestPlanOfAChannel: the page of an upgrade offers the channels, and shows what the chosen one brings.
func TestPlanOfAChannel(t *testing.T) {
	v := newTour(t, nil, append(offeredBy(), subscribes("ops", "mine")...)...)
	page := answers[upgradePage](v, "/operator/Subscription/ops/mine/upgrade?channel=beta")
	must.Equal(t, "channels", []string{page.Channels[0].Name, page.Channels[1].Name}, []string{"stable", "beta"})
	must.Equal(t, "what would be installed", page.Subscription.Install[0].Name, "mine.v1.1.0")
	text := v.shows(http.StatusOK, "/operator/Subscription/ops/mine/upgrade?channel=beta").text("main")
	must.Contain(t, "the plan", text, "mine.v1.0.0 is installed.", "channel: stable -> beta", "mine.v1.0.0 → mine.v1.1.0 channel beta of olm/cat", "Images that come registry.example.com/mine:1.1.0", "Change it")
	must.Contain(t, "a channel that there is not", v.planned("/operator/Subscription/ops/mine/upgrade?channel=frob"), "No solution", "frob")
}
