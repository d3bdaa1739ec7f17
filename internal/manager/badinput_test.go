package manager

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/sweep"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestBadInput breaks one thing at a time, looks for the words that a user gets to see, mends it, and expects everything to be well
// without further help.
func TestBadInput(t *testing.T) {
	t.Parallel()
	op := operator{pkg: "op", version: "1.0.0"}
	tests := map[string]struct {
		breaks func(w *world)
		shows  []string // in the status tree
		mend   func(w *world)
		byDay  string // what holds the rule every day, when this is for the night
	}{
		"the registry cannot be reached": {
			breaks: func(w *world) {
				w.create(w.allNamespaces(), w.catalogSource("127.0.0.1:1/no/registry:latest"), w.subscribe("op"))
			},
			shows: []string{`CatalogSource .* TRANSIENT_FAILURE`, `connection refused`, `targeted catalogsource|its content is not available`},
			mend:  func(w *world) { w.useCatalog(w.catalog(op)) },
		},
		"there is no such image": {
			breaks: func(w *world) {
				w.create(w.allNamespaces(), w.catalogSource(devcluster.Registry()+"/nobody/here:latest"), w.subscribe("op"))
			},
			shows: []string{`CatalogSource .* TRANSIENT_FAILURE`, `nobody/here`},
			mend:  func(w *world) { w.useCatalog(w.catalog(op)) },
			byDay: "TestRegistriesWithFaults in internal/controller/catalogsource",
		},
		"the image is that of a bundle": {
			breaks: func(w *world) {
				w.create(w.allNamespaces(), w.catalogSource(w.bundle(op)), w.subscribe("op"))
			},
			shows: []string{`CatalogSource .* TRANSIENT_FAILURE`, `it is a bundle image, of package op`},
			mend:  func(w *world) { w.useCatalog(w.catalog(op)) },
		},
		"the catalog is broken": {
			breaks: func(w *world) {
				broken := w.catalogImage(`{"schema":"olm.package","name":"op","defaultChannel":"stable"}` + "\n\n" + `{"schema":"olm.channel",`)
				w.create(w.allNamespaces(), w.catalogSource(broken), w.subscribe("op"))
			},
			shows: []string{`CatalogSource .* TRANSIENT_FAILURE`, `catalog\.json:\d`},
			mend:  func(w *world) { w.catalog(op) },
		},
		"the package is not in the catalog": {
			breaks: func(w *world) {
				w.create(w.allNamespaces(), w.catalogSource(w.catalog(operator{pkg: "other", version: "1.0.0"})), w.subscribe("op"))
			},
			shows: []string{`no operators found in package op in the catalog referenced by subscription op`},
			mend:  func(w *world) { w.catalog(op) },
			byDay: "conflict-missing-package in internal/resolution, and the case of a missing channel here",
		},
		"the channel is not in the package": {
			breaks: func(w *world) {
				sub := w.subscribe("op")
				sub.Spec.Channel = "nightly"
				w.create(w.allNamespaces(), w.catalogSource(w.catalog(op)), sub)
			},
			shows: []string{`no operators found in channel nightly of package op .*: its channels are stable`},
			mend: func(w *world) {
				update(w, w.subscribe("op"), func(s *v1alpha1.Subscription) { s.Spec.Channel = "stable" })
			},
		},
		"there is no OperatorGroup": {
			breaks: func(w *world) { w.create(w.catalogSource(w.catalog(op)), w.subscribe("op")) },
			shows:  []string{`expected 1 OperatorGroup in the namespace, found 0: create one`},
			mend:   func(w *world) { w.create(w.allNamespaces()) },
			byDay:  "TestDocumentedConditions in internal/controller/subscription, and TestPlanOfInvalidGroups here",
		},
		"there are two OperatorGroups": {
			breaks: func(w *world) {
				w.create(w.group("one"), w.group("two"), w.catalogSource(w.catalog(op)), w.subscribe("op"))
			},
			shows: []string{`expected 1 OperatorGroup in the namespace, found 2: delete all but one`, `OperatorGroup one .*MultipleOperatorGroup`},
			mend: func(w *world) {
				if err := w.client.Delete(w.t.Context(), w.group("two")); err != nil {
					w.t.Fatal(err)
				}
			},
		},
		"the install mode is not supported": {
			breaks: func(w *world) {
				w.create(w.group("own", w.namespace), w.catalogSource(w.catalog(op)), w.subscribe("op"))
			},
			shows: []string{`InstallPlan install-\w+ .* Installing`, `waiting for an OperatorGroup that fits: .*OwnNamespace InstallModeType not supported.*apply {`},
			mend: func(w *world) {
				if err := w.client.Delete(w.t.Context(), w.group("own")); err != nil {
					w.t.Fatal(err)
				}
				w.create(w.allNamespaces())
			},
			byDay: "TestMisfitsHoldAutomaticPlans in internal/controller/installplan",
		},
		"a CRD cannot be established": {
			breaks: func(w *world) {
				w.create(w.conflictingCRD("Thing"), w.allNamespaces(), w.catalogSource(w.catalog(operator{pkg: "op", version: "1.0.0", kind: "Thing"})), w.subscribe("op"))
			},
			shows: []string{`InstallPlan install-\w+ .* Installing`, `(?s)CustomResourceDefinition.*things\.`},
			mend: func(w *world) {
				if err := w.client.Delete(w.t.Context(), w.conflictingCRD("Thing")); err != nil {
					w.t.Fatal(err)
				}
			},
		},
		"the bundle is over the limits": {
			breaks: func(w *world) {
				big := op
				big.files = map[string]string{"manifests/big.json": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"big"},"data":{"a":"` + strings.Repeat("x", 80<<20) + `"}}`}
				w.create(w.allNamespaces(), w.catalogSource(w.catalog(big)), w.subscribe("op"))
			},
			shows: []string{`fetch bundle op\.v1\.0\.0`, `limit`},
			mend:  func(w *world) { w.catalog(op, operator{pkg: "op", version: "1.0.1"}) },
			byDay: "TestLoadLimits in bundle, and TestBundleThatIsNotThereYet here, where the bundle fails for another reason",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.byDay != "" {
				sweep.Nightly(t, test.byDay)
			}
			w := newWorld(t)
			test.breaks(w)
			for _, pattern := range test.shows {
				w.shows(pattern)
			}
			test.mend(w)
			w.ready()
		})
	}
}

func (w *world) useCatalog(ref string) {
	w.t.Helper()
	update(w, w.catalogSource(""), func(s *v1alpha1.CatalogSource) { s.Spec.Image = ref })
}

// conflictingCRD holds the names of another kind's CustomResourceDefinition, so that the API server does not accept those.
func (w *world) conflictingCRD(kind string) *apiextensionsv1.CustomResourceDefinition {
	preserve := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "occupied" + plural(kind) + "." + w.apiGroup()},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: w.apiGroup(), Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "occupied" + plural(kind), Singular: "occupied", Kind: kind},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve}}}},
		},
	}
}
