package installplan

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// offer is a version in a catalog: its ClusterServiceVersion is <pkg>.v<version>, which owns the CRD of the kind, if any, and requires
// that of another.
type offer struct {
	pkg, version, replaces string
	owns, requires         string
	image                  string // has the content, instead of the catalog
}

func (o offer) name() string { return o.pkg + ".v" + o.version }

// crdName is that of the CRD of a kind.
func crdName(kind string) string { return strings.ToLower(kind) + "s.example.com" }

// shop publishes a catalog of offers; the last one of a package is the head of its channel.
func (w *world) shop(t testing.TB, namespace, name string, offers ...offer) {
	t.Helper()
	c := must.Value(catalog.Load(t.Context(), fstest.MapFS{"catalog.yaml": {Data: []byte(catalogText(offers))}}, catalog.LoadOptions{}))(t)
	x, err := catalog.NewIndex(c, fmt.Sprintf("sha256:%x", len(offers)))
	if err != nil || len(x.Problems()) > 0 {
		t.Fatal(err, x.Problems())
	}
	w.controller.Catalogs.Publish(catalog.Ref{Namespace: namespace, Name: name}, catalogstore.Entry{Index: x})
}

// catalogSource is the object that declares a catalog.
func catalogSource(namespace, name string, priority int) *v1alpha1.CatalogSource {
	return &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1alpha1.CatalogSourceSpec{Priority: priority}}
}

func catalogText(offers []offer) string {
	channels, bundles := map[string]string{}, ""
	for _, o := range offers {
		if channels[o.pkg] == "" {
			channels[o.pkg] = fmt.Sprintf("---\nschema: olm.package\nname: %[1]s\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: %[1]s\nname: stable\nentries:\n", o.pkg)
		}
		channels[o.pkg] += "- name: " + o.name() + "\n"
		if o.replaces != "" {
			channels[o.pkg] += "  replaces: " + o.replaces + "\n"
		}
		bundles += o.text()
	}
	text := bundles
	for _, c := range channels {
		text += c
	}
	return text
}

func (o offer) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nschema: olm.bundle\npackage: %s\nname: %s\nimage: %q\nproperties:\n- type: olm.package\n  value: {packageName: %s, version: %s}\n", o.pkg, o.name(), o.image, o.pkg, o.version)
	if o.owns != "" {
		fmt.Fprintf(&b, "- type: olm.gvk\n  value: {group: example.com, version: v1, kind: %s}\n", o.owns)
	}
	if o.requires != "" {
		fmt.Fprintf(&b, "- type: olm.gvk.required\n  value: {group: example.com, version: v1, kind: %s}\n", o.requires)
	}
	if o.image != "" {
		return b.String()
	}
	for _, manifest := range o.manifests() {
		fmt.Fprintf(&b, "- type: olm.bundle.object\n  value: {data: %s}\n", base64.StdEncoding.EncodeToString([]byte(manifest)))
	}
	return b.String()
}

func (o offer) manifests() []string {
	apis := func(kind string) string {
		if kind == "" {
			return ""
		}
		return fmt.Sprintf(`{"name":%q,"version":"v1","kind":%q}`, crdName(kind), kind)
	}
	all := []string{fmt.Sprintf(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":%q},
		"spec":{"displayName":"x","version":%q,"install":{"strategy":"deployment","spec":{"deployments":[],
		"permissions":[{"serviceAccountName":%q,"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}]}},
		"customresourcedefinitions":{"owned":[%s],"required":[%s]}}}`, o.name(), o.version, o.pkg, apis(o.owns), apis(o.requires))}
	if o.owns != "" {
		all = append(all, fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":%q},"spec":{"group":"example.com","scope":"Namespaced",
			"names":{"plural":%q,"singular":%q,"kind":%q,"listKind":%q},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`,
			crdName(o.owns), strings.ToLower(o.owns)+"s", strings.ToLower(o.owns), o.owns, o.owns+"List"))
	}
	return all
}

// handMade is a plan as people write it.
func handMade(approval v1alpha1.Approval, names ...string) *v1alpha1.InstallPlan {
	p := &v1alpha1.InstallPlan{}
	p.Namespace, p.Name, p.UID, p.CreationTimestamp = "ns", "plan", "uid-plan", *at(0)
	p.Spec = v1alpha1.InstallPlanSpec{ClusterServiceVersionNames: names, Approval: approval}
	return p
}

// runs is an operator of an offer that is there already.
func runs(t testing.TB, o offer) *v1alpha1.ClusterServiceVersion {
	t.Helper()
	csv := &v1alpha1.ClusterServiceVersion{}
	csv.Namespace, csv.Name = "ns", o.name()
	properties := fmt.Sprintf(`{"type":"olm.package","value":{"packageName":%q,"version":%q}}`, o.pkg, o.version)
	if o.owns != "" {
		properties += fmt.Sprintf(`,{"type":"olm.gvk","value":{"group":"example.com","version":"v1","kind":%q}}`, o.owns)
		csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: crdName(o.owns), Version: "v1", Kind: o.owns}}
	}
	csv.Annotations = map[string]string{v1alpha1.PropertiesAnnotation: `{"properties":[` + properties + `]}`}
	must.NoError(t, csv.Spec.Version.UnmarshalJSON([]byte(`"`+o.version+`"`)))
	csv.Status.Phase = v1alpha1.CSVPhaseSucceeded
	return csv
}
