package browser

import (
	"fmt"
	"net/url"
	"testing"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestStoryOfASubscription: an operator of the v0 API is found, understood, installed with manual approval, upgraded, seen to fail, and uninstalled. Nothing but
// the browser is used.
func TestStoryOfASubscription(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.community()
	p := w.open(devcluster.Config())
	here := "?namespace=" + w.Namespace
	operator := "/operator/Subscription/" + w.Namespace + "/grafana-operator"

	p.open("/catalog" + here)
	p.sees("331 packages")
	p.fill("Search", "grafana")
	p.sees("of 331 packages", "Grafana Operator")
	p.lacks("331 of 331")
	p.click("Grafana Operator")
	p.sees("What would be installed in namespace "+w.Namespace, "would be installed, from channel", "Permissions that it gets", "Upgrade graph", "because")
	p.accessible()

	p.press("Install with a Subscription")
	p.sees("What to install")
	p.choose("Version", "grafana-operator.v5.22.2")
	p.tick("Manual: each InstallPlan waits for approval")
	p.click("Show the plan")
	p.sees("grafana-operator.v5.22.2", "CustomResourceDefinition", "OperatorGroup", "The same by hand")
	p.accessible()
	p.click("Install")
	p.arrives(operator)

	p.open("/approvals" + here)
	p.sees("One change waits for you", "grafana-operator.v5.22.2", "Approve install-")
	p.accessible()
	p.press("Approve install-")
	p.sees("Approved ")
	p.open("/installed" + here)
	p.stays("it works", func() { p.sees("works", "5.22.2") })

	p.open("/approvals" + here)
	p.sees("grafana-operator.v5.24.0", "What changes for grafana-operator.v5.24.0")
	p.press("Approve install-")
	p.sees("Approved ")
	p.open(operator)
	p.stays("it is upgraded", func() { p.sees("Version 5.24.0 is installed") })
	p.accessible()
	p.customResource(w)

	p.open("/approvals" + here)
	p.sees("grafana-operator.v5.24.1")
	p.press("Approve install-")
	p.sees("Approved ")
	p.open(operator)
	p.sees("grafana-operator.v5.24.1", "didn't match Pod's node affinity/selector")
	p.sees("there is no way back to them", "fairlead migrate")
	p.accessible()
	p.click("Compare versions")
	p.sees("From", "Added")
	p.accessible()

	p.open("/source/v0/" + global + "/community/update?image=" + url.QueryEscape(community.next))
	p.sees("its version vanishes", "grafana-operator.v5.24.1")
	p.accessible()

	p.open(operator + "/uninstall")
	p.sees("Goes", "Stays", "grafanas.grafana.integreatly.org", "Type grafana-operator to confirm")
	p.accessible()
	p.fill("Type grafana-operator", "grafana-operator")
	p.click("Uninstall it")
	p.sees("Nothing is installed here")
	stays := &unstructured.Unstructured{}
	stays.SetGroupVersionKind(schema.GroupVersionKind{Group: "grafana.integreatly.org", Version: "v1beta1", Kind: "Grafana"})
	must.NoErrorf(t, w.Get(t.Context(), client.ObjectKey{Namespace: w.Namespace, Name: "grafana-a"}, stays), "the custom resource stays")
	must.Empty(t, "complaints of the browser", p.complaints())
}

// customResource creates a custom resource from the example of the operator.
func (p *tab) customResource(w *world) {
	p.Helper()
	p.open(fmt.Sprintf("/operands?namespace=%s&name=grafana-operator", w.Namespace))
	p.sees("Grafana")
	p.accessible()
	p.click("Grafana")
	p.click("Create one")
	p.sees("Create a Grafana", "The API server checks it")
	p.click("Check it")
	p.sees("The API server would take it.")
	p.accessible()
	p.click("Create it as checked")
	p.sees("is created")
	p.click("grafana-a")
	p.sees("kind: Grafana")
	p.accessible()
}

// TestStoryOfAnExtension: the same by the v1 API, and a way back that is proven before it is gone.
func TestStoryOfAnExtension(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.community()
	p := w.open(devcluster.Config())
	here := "?namespace=" + w.Namespace
	operator := "/operator/ClusterExtension/" + w.Namespace + "/keycloak-operator"

	p.open("/catalog" + here + "&q=keycloak&catalog=community")
	p.sees("of 331 packages", "Keycloak")
	p.open("/package/keycloak-operator" + here + "&catalog=community")
	p.sees("would be installed", "Permissions that it gets", "Upgrade graph")
	p.press("Install as a ClusterExtension")
	p.sees("What to install")
	p.fill("Version or range", "26.7.0")
	p.click("Show the plan")
	p.sees("keycloak-operator.v26.7.0", "CustomResourceDefinition", "The same by hand")
	p.accessible()
	p.click("Install")
	p.arrives(operator)
	p.stays("it is installed", func() { p.sees("works", "Version 26.7.0 is installed") })

	p.upgrade(operator, "26.7.1")
	p.stays("it is upgraded", func() { p.sees("works", "Version 26.7.1 is installed") })
	p.accessible()
	p.click("Compare versions")
	p.sees("From", "26.7.0")
	p.accessible()

	p.upgrade(operator, "26.7.2")
	p.sees("didn't match Pod's node affinity/selector")
	p.accessible()

	p.click("Roll back")
	p.sees("Proven: nothing is lost.", "(26.7.1)")
	p.accessible()
	p.press("Go back to revision")
	p.arrives(operator)
	p.sees("works", "Version 26.7.1 is installed", "It is kept at revision")

	p.open(operator + "/uninstall")
	p.sees("Goes", "Stays", "keycloaks.k8s.keycloak.org")
	p.accessible()
	p.fill("Type keycloak-operator", "keycloak-operator")
	p.click("Uninstall it")
	p.sees("Nothing is installed here")
	must.Empty(t, "complaints of the browser", p.complaints())
}

// upgrade asks for another version of a ClusterExtension, after the plan has been read.
func (p *tab) upgrade(operator, version string) {
	p.Helper()
	p.open(operator + "/upgrade")
	p.fill("Version", version)
	p.click("Show the plan")
	p.sees("The plan", "keycloak-operator.v"+version)
	p.accessible()
	p.click("Change it")
	p.arrives(operator)
}
