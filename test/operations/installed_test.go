package operations

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

// installBoth installs guestbook 1.1.0 with the greeter that it needs by a Subscription, of which an upgrade waits for approval, and a ledger by a ClusterExtension.
func (c *cluster) installBoth() {
	c.Helper()
	ref, _ := fixture.Samples(c, bundleio.Publisher{Registry: c.registry}, "samples", nil)
	c.make(
		&v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "samples"}, Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "books"}},
		&operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "books", Name: "all"}},
		&v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "books", Name: "guestbook"}, Spec: &v1alpha1.SubscriptionSpec{Package: "guestbook-operator",
			CatalogSource: "samples", CatalogSourceNamespace: "olm", StartingCSV: "guestbook-operator.v1.1.0", InstallPlanApproval: v1alpha1.ApprovalManual}},
	)
	c.approve("guestbook-operator.v1.1.0")
	c.In("books").Succeeds("guestbook-operator.v1.1.0")
	c.make(
		&olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "ledgers"}, Spec: olmv1.ClusterCatalogSpec{
			Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: c.ledgers()}}}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "accounts"}},
		&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "ledger"}, Spec: olmv1.ClusterExtensionSpec{Namespace: "accounts",
			Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: "ledger", Version: "1.0.0"}}}},
	)
	c.extensionRuns("ledger", "1.0.0")
	for _, text := range []string{
		`{"apiVersion":"example.com/v1","kind":"Ledger","metadata":{"namespace":"accounts","name":"main"},"spec":{"total":41}}`,
		`{"apiVersion":"demo.fairlead.dev/v1","kind":"Greeting","metadata":{"namespace":"books","name":"hello"},"spec":{"name":"hello"}}`,
	} {
		c.make(object(c, text))
	}
}

func object(c *cluster, text string) *unstructured.Unstructured {
	c.Helper()
	o := &unstructured.Unstructured{}
	must.NoError(c, o.UnmarshalJSON([]byte(text)))
	return o
}

// approve approves the InstallPlan of an operator.
func (c *cluster) approve(csv string) {
	c.Helper()
	must.Eventually(c, "an InstallPlan of "+csv+" to approve", func() error {
		var plans v1alpha1.InstallPlanList
		if err := c.List(c.Context(), &plans, client.InNamespace("books")); err != nil {
			return err
		}
		for i := range plans.Items {
			if plan := &plans.Items[i]; slices.Contains(plan.Spec.ClusterServiceVersionNames, csv) {
				plan.Spec.Approved = true
				return c.Update(c.Context(), plan)
			}
		}
		return fmt.Errorf("there are %d others", len(plans.Items))
	})
}

// ledgers pushes a bundle with a kind of its own in two versions, and a catalog of them.
func (c *cluster) ledgers() string {
	c.Helper()
	const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"ledgers.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
		"names":{"plural":"ledgers","singular":"ledger","kind":"Ledger","listKind":"LedgerList"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"total":{"type":"integer"}}}}}}}]}}`
	catalog := `{"schema":"olm.package","name":"ledger","defaultChannel":"stable"}
		{"schema":"olm.channel","package":"ledger","name":"stable","entries":[{"name":"ledger.v1.0.0"},{"name":"ledger.v1.1.0","replaces":"ledger.v1.0.0"}]}`
	for _, version := range []string{"1.0.0", "1.1.0"} {
		csv := fmt.Sprintf(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"ledger.v%[1]s"},"spec":{"displayName":"ledger","version":%[1]q,
			"customresourcedefinitions":{"owned":[{"name":"ledgers.example.com","version":"v1","kind":"Ledger"}]},
			"installModes":[{"type":"AllNamespaces","supported":true}],"install":{"strategy":"deployment","spec":{
			"clusterPermissions":[{"serviceAccountName":"ledger","rules":[{"apiGroups":["example.com"],"resources":["ledgers"],"verbs":["get","list","watch"]}]}],
			"deployments":[{"name":"ledger","spec":{"replicas":1,"selector":{"matchLabels":{"app":"ledger"}},"template":{"metadata":{"labels":{"app":"ledger"}},
			"spec":{"serviceAccountName":"ledger","containers":[{"name":"op","image":"registry.example.com/ledger:%[1]s"}]}}}}]}}}}`, version)
		labels := image.BundleLabels("ledger", []string{"stable"}, "stable")
		annotations := must.Value(json.Marshal(map[string]any{"annotations": labels}))(c)
		ref := c.registry + "/ledger:v" + version
		harness.Push(c, ref, map[string]string{"manifests/csv.json": csv, "manifests/crd.json": definition, "metadata/annotations.json": string(annotations)}, labels)
		catalog += fmt.Sprintf(`{"schema":"olm.bundle","package":"ledger","name":"ledger.v%[1]s","image":%[2]q,"properties":[{"type":"olm.package","value":{"packageName":"ledger","version":%[1]q}}]}`, version, ref)
	}
	harness.Push(c, c.registry+"/ledgers:latest", map[string]string{"configs/catalog.json": catalog}, image.CatalogLabels())
	return c.registry + "/ledgers:latest"
}

// isWhole waits until everything is as installBoth has left it.
func (c *cluster) isWhole() {
	c.Helper()
	c.In("books").Succeeds("guestbook-operator.v1.1.0")
	c.extensionRuns("ledger", "1.0.0")
	must.EventuallyWithin(c, "everything to be as it was", time.Minute, func() error { return within(c.subscribed, c.planned, c.operators) })
	for _, key := range []struct{ apiVersion, kind, namespace, name, field, want string }{
		{"example.com/v1", "Ledger", "accounts", "main", "total", "41"}, {"demo.fairlead.dev/v1", "Greeting", "books", "hello", "name", "hello"},
	} {
		o := &unstructured.Unstructured{}
		o.SetAPIVersion(key.apiVersion)
		o.SetKind(key.kind)
		must.NoError(c, c.Get(c.Context(), client.ObjectKey{Namespace: key.namespace, Name: key.name}, o))
		spec, _ := o.Object["spec"].(map[string]any)
		if got := fmt.Sprint(spec[key.field]); got != key.want {
			c.Errorf("%s %s has %s %s, want %s", key.kind, key.name, key.field, got, key.want)
		}
	}
}

// subscribed: each Subscription knows what is installed for it.
func (c *cluster) subscribed() error {
	var subs v1alpha1.SubscriptionList
	if err := c.List(c.Context(), &subs, client.InNamespace("books")); err != nil {
		return err
	}
	var got []string
	for _, sub := range subs.Items {
		got = append(got, fmt.Sprintf("%s has %s: %s", sub.Spec.Package, sub.Status.InstalledCSV, sub.Status.State))
	}
	slices.Sort(got)
	if want := "greeter-operator has greeter-operator.v1.2.0: AtLatestKnown\nguestbook-operator has guestbook-operator.v1.1.0: UpgradePending"; strings.Join(got, "\n") != want {
		return fmt.Errorf("Subscriptions are\n%s\nand not\n%s", strings.Join(got, "\n"), want)
	}
	return nil
}

// planned: an upgrade waits for approval, and no other InstallPlan does or fails.
func (c *cluster) planned() error {
	var plans v1alpha1.InstallPlanList
	if err := c.List(c.Context(), &plans, client.InNamespace("books")); err != nil {
		return err
	}
	waiting := 0
	var all []string
	for _, plan := range plans.Items {
		all = append(all, fmt.Sprintf("%s (%v approved %t) %s %s", plan.Name, plan.Spec.ClusterServiceVersionNames, plan.Spec.Approved, plan.Status.Phase, plan.Status.Message))
		switch {
		case plan.Status.Phase == v1alpha1.InstallPlanPhaseRequiresApproval && !plan.Spec.Approved && slices.Contains(plan.Spec.ClusterServiceVersionNames, "guestbook-operator.v1.2.0"):
			waiting++
		case plan.Status.Phase != v1alpha1.InstallPlanPhaseComplete:
			waiting += 100
		}
	}
	if waiting != 1 {
		return fmt.Errorf("InstallPlans are %s", strings.Join(all, "; "))
	}
	return nil
}

// operators: those that were installed, and no others.
func (c *cluster) operators() error {
	var csvs v1alpha1.ClusterServiceVersionList
	if err := c.List(c.Context(), &csvs, client.InNamespace("books")); err != nil {
		return err
	}
	var got []string
	for i := range csvs.Items {
		got = append(got, fmt.Sprintf("%s %s", csvs.Items[i].Name, csvs.Items[i].Status.Phase))
	}
	slices.Sort(got)
	if want := "greeter-operator.v1.2.0 Succeeded, guestbook-operator.v1.1.0 Succeeded"; strings.Join(got, ", ") != want {
		return fmt.Errorf("operators are %q", got)
	}
	var sets olmv1.ClusterObjectSetList
	if err := c.List(c.Context(), &sets); err != nil || len(sets.Items) != 1 || sets.Items[0].Name != "ledger-1" {
		return fmt.Errorf("%d revisions, %w", len(sets.Items), err)
	}
	return nil
}
