package certificates

import (
	"fmt"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMain(m *testing.M) { harness.Main(m) }

// world is a cluster with a manager.
type world struct {
	*testing.T
	client.Client
	clock *harness.Clock // what the manager remembers for a minute is forgotten when a test says so
	store string
	stop  func() // the manager
}

// manage starts a manager, and returns what it asks.
func (w *world) manage() *harness.Requests {
	w.Helper()
	asked := &harness.Requests{}
	w.stop = harness.Run(w.T, manager.Options{Config: asked.Record(rest.CopyConfig(devcluster.Config())), Clock: w.clock, StoreDir: w.store,
		CatalogHTTP: manager.CatalogHTTP{URL: "http://fairlead-catalogs.olm.svc"}}) // the same address after a restart
	return asked
}

// define makes kinds known to the cluster, with a status and whatever else, and lets the manager find out about them.
func (w *world) define(scope apiextensionsv1.ResourceScope, group, version string, kinds ...string) {
	w.Helper()
	for _, kind := range kinds {
		singular, free := strings.ToLower(kind), true
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: singular + "s." + group}}
		crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{Group: group, Scope: scope,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: singular + "s", Singular: singular, Kind: kind, ListKind: kind + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: version, Served: true, Storage: true,
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &free}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}}}}
		harness.Create(w.T, w, crd)
		must.Eventually(w.T, kind+" to be served", func() error {
			must.NoError(w, w.Get(w.Context(), client.ObjectKeyFromObject(crd), crd))
			for _, c := range crd.Status.Conditions {
				if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
					return nil
				}
			}
			return fmt.Errorf("it is not")
		})
	}
	w.clock.Jump(2 * time.Minute)
}

// install publishes an operator with webhooks of all kinds, of which everything has the name, and asks for it.
func (w *world) install(name string) {
	w.Helper()
	hook := func(kind string) string {
		more := fmt.Sprintf(`"rules":[{"apiGroups":["%s.example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["things"]}],"failurePolicy":"Ignore"`, name)
		if kind == "ConversionWebhook" {
			more = fmt.Sprintf(`"conversionCRDs":["things.%s.example.com"]`, name)
		}
		return fmt.Sprintf(`{"type":%q,"generateName":"%s.%s.example.com","deploymentName":%q,"containerPort":443,"targetPort":9443,"sideEffects":"None",
			"admissionReviewVersions":["v1"],"webhookPath":"/x",%s}`, kind, strings.ToLower(kind[:3]), name, name, more)
	}
	csv := fmt.Sprintf(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"%[1]s.v1.0.0"},"spec":{"displayName":"x","version":"1.0.0",
		"installModes":[{"type":"AllNamespaces","supported":true}],"customresourcedefinitions":{"owned":[{"name":"things.%[1]s.example.com","version":"v1","kind":"Thing"}]},
		"webhookdefinitions":[%[2]s,%[3]s,%[4]s],"install":{"strategy":"deployment","spec":{"deployments":[{"name":%[1]q,"spec":{"replicas":1,
		"selector":{"matchLabels":{"app":%[1]q}},"template":{"metadata":{"labels":{"app":%[1]q}},"spec":{"containers":[{"name":"op","image":"registry.example.com/op"}]}}}}]}}}}`,
		name, hook("ValidatingAdmissionWebhook"), hook("MutatingAdmissionWebhook"), hook("ConversionWebhook"))
	crd := fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.%[1]s.example.com"},"spec":{"group":"%[1]s.example.com",
		"scope":"Namespaced","names":{"plural":"things","singular":"thing","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, name)
	labels := image.BundleLabels(name, []string{"stable"}, "stable")
	repository := devcluster.Registry() + "/" + name
	annotations := ""
	for key, value := range labels {
		annotations += fmt.Sprintf("  %s: %q\n", key, value)
	}
	harness.Push(w.T, repository+"/bundle:v1", map[string]string{"manifests/csv.json": csv, "manifests/crd.json": crd, "metadata/annotations.yaml": "annotations:\n" + annotations}, labels)
	catalog := fmt.Sprintf(`{"schema":"olm.package","name":%[1]q,"defaultChannel":"stable"}{"schema":"olm.channel","package":%[1]q,"name":"stable","entries":[{"name":"%[1]s.v1.0.0"}]}
		{"schema":"olm.bundle","package":%[1]q,"name":"%[1]s.v1.0.0","image":%[2]q,"properties":[{"type":"olm.package","value":{"packageName":%[1]q,"version":"1.0.0"}}]}`,
		name, repository+"/bundle:v1")
	digest := harness.Push(w.T, repository+"/catalog:v1", map[string]string{"configs/catalog.json": catalog}, image.CatalogLabels())
	harness.Create(w.T, w, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}},
		&olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: olmv1.ClusterCatalogSpec{Source: olmv1.CatalogSource{
			Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: repository + "/catalog@" + digest}}}},
		&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: olmv1.ClusterExtensionSpec{Namespace: name,
			Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: name}}}})
}

// installed waits until a revision of an extension is installed.
func (w *world) installed(name string, number int) *olmv1.ClusterObjectSet {
	w.Helper()
	set := &olmv1.ClusterObjectSet{}
	must.Eventually(w.T, fmt.Sprintf("revision %d of %s", number, name), func() error {
		ext := &olmv1.ClusterExtension{}
		must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: name}, ext))
		if !harness.Read(w.T, w, "", fmt.Sprintf("%s-%d", name, number), set) || !meta.IsStatusConditionTrue(set.Status.Conditions, olmv1.TypeSucceeded) ||
			!meta.IsStatusConditionTrue(ext.Status.Conditions, olmv1.TypeInstalled) {
			return fmt.Errorf("%+v; %+v", ext.Status.Conditions, set.Status.Conditions)
		}
		return nil
	})
	return set
}

// bundles are the authorities of all that leads to the operator.
func (w *world) bundles(name string) map[string][]byte {
	w.Helper()
	v, m, crd := &admissionv1.ValidatingWebhookConfiguration{}, &admissionv1.MutatingWebhookConfiguration{}, &apiextensionsv1.CustomResourceDefinition{}
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: "val." + name + ".example.com"}, v))
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: "mut." + name + ".example.com"}, m))
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: "things." + name + ".example.com"}, crd))
	return map[string][]byte{"validating": v.Webhooks[0].ClientConfig.CABundle, "mutating": m.Webhooks[0].ClientConfig.CABundle,
		"conversion": crd.Spec.Conversion.Webhook.ClientConfig.CABundle}
}
