package browser

import (
	"testing"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"
)

// TestStoryOfAnExtension: an operator of the v1 API is found, understood, installed, upgraded, seen to fail and why, taken back once it is proven that nothing is
// lost, and uninstalled. Nothing but the browser is used.
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
