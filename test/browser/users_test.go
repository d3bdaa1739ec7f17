package browser

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// roles adds the project's kinds to the roles view and edit of Kubernetes, as docs/tenants.md says, once.
var rolesOnce sync.Mutex

func (w *world) roles() {
	w.Helper()
	rolesOnce.Lock()
	defer rolesOnce.Unlock()
	for _, name := range []string{"rbac-users.yaml", "rbac-users-v1.yaml"} {
		text := must.Value(os.ReadFile(filepath.Join("..", "..", "config", name)))(w.T)
		harness.Apply(w.Context(), w, w, harness.Documents(w, name, text))
	}
}

// binds gives a user a role of Kubernetes in a namespace.
func (w *world) binds(user, role, namespace string) {
	w.Helper()
	w.Make(&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}})
}

// watchesItself makes the operators of a namespace watch it alone.
func (w *world) watchesItself(namespace string) {
	w.Helper()
	w.Make(&operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "own"}, Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: []string{namespace}}})
}

// watchesAll makes the operators of a namespace watch all.
func (w *world) watchesAll(namespace string) {
	w.Helper()
	w.Make(&operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "all"}})
}

// waiting makes a Subscription whose plan waits for approval.
func (w *world) waiting(namespace, name string) {
	w.Helper()
	w.watchesItself(namespace)
	w.Make(subscription(namespace, name, "", v1alpha1.ApprovalManual))
}

// TestReader: a user with the role view sees every page, and can change nothing: each button is disabled, with the right that is missing; and what is sent all
// the same is refused by the API server.
func TestReader(t *testing.T) {
	w := newWorld(t)
	w.community()
	w.roles()
	w.Make(&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "reader-of-all"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "reader"}}})
	w.waiting(w.Namespace, "service-binding-operator")
	p := w.open(as("reader"))
	here := "?namespace=" + w.Namespace
	operator := "/operator/Subscription/" + w.Namespace + "/service-binding-operator"

	p.open("/approvals" + here)
	p.sees("One change waits for you", "service-binding-operator", "What changes for", "reader may not patch installplans.operators.coreos.com in namespace "+w.Namespace)
	for _, page := range []struct {
		at   string
		sees []string
	}{
		{"/approvals" + here, []string{"One change waits for you"}},
		{"/catalog" + here, []string{"331 packages"}},
		{"/package/service-binding-operator" + here + "&catalog=" + global + "/community", []string{"Upgrade graph", "Versions"}},
		{"/install" + here + "&package=service-binding-operator&api=v0&catalog=" + global + "/community", []string{"The plan"}},
		{"/install" + here + "&package=keycloak-operator&api=v1&catalog=community", []string{"The plan", "reader may not create clusterextensions.olm.operatorframework.io"}},
		{"/installed" + here, []string{"service-binding-operator", "waits for approval"}},
		{operator, []string{"reader may not patch subscriptions.operators.coreos.com in namespace " + w.Namespace, "reader may not delete subscriptions.operators.coreos.com"}},
		{operator + "/uninstall", []string{"Goes", "reader may not delete"}},
		{"/operands" + here, []string{"Custom resources"}},
		{"/why" + here + "&kind=why&name=service-binding-operator", []string{"service-binding-operator", "The same as text"}},
		{"/sources", []string{"community", "serves", "reader may not create catalogsources.operators.coreos.com"}},
		{"/source/v0/" + global + "/community", []string{"packages with", "reader may not patch catalogsources.operators.coreos.com"}},
		{"/source/v0/" + global + "/community/update?image=" + url.QueryEscape(community.next), []string{"Nothing that is installed here would change"}},
		{"/source/v1/community", []string{"packages with", "reader may not patch clustercatalogs.olm.operatorframework.io"}},
	} {
		p.open(page.at)
		p.sees(page.sees...)
		p.changesNothing()
		p.accessible()
	}

	// What is sent all the same.
	p.open("/approvals" + here)
	p.sees("reader may not patch installplans")
	value[any](p, `document.querySelector('form[action="/approvals/approve"]').requestSubmit(), null`)
	p.sees("Not done", "forbidden", "ask an administrator of the cluster")
	must.Equal(t, "status of the answer", p.status(), 403)
	p.accessible()
}

// changesNothing says that each button of the page that would change something is disabled, and why.
func (p *tab) changesNothing() {
	p.Helper()
	open := value[[]string](p, `[...document.querySelectorAll('main form[method="post"] button:not([disabled])')]
		.filter(b => !b.closest('form[action="/install"], form[action="/logout"]')).map(b => b.form.getAttribute("action") + ": " + b.textContent)`)
	must.Empty(p, "buttons of "+p.at()+" that "+"a reader can press", open)
	silent := value[[]string](p, `[...document.querySelectorAll('main button[disabled]')].filter(b => !b.parentElement.querySelector(".lacks")).map(b => b.textContent)`)
	must.Empty(p, "buttons of "+p.at()+" that are disabled without a reason", silent)
}

// status is that of the answer of the page.
func (p *tab) status() int {
	p.Helper()
	return value[int](p, `performance.getEntriesByType("navigation")[0].responseStatus`)
}

// TestTenant: a user with the role edit in one namespace sees that namespace alone, and does there what docs/tenants.md says; every other is refused.
func TestTenant(t *testing.T) {
	w := newWorld(t)
	w.community()
	w.roles()
	foreign := devcluster.Namespace(t)
	w.waiting(foreign, "strimzi-kafka-operator")
	w.watchesItself(w.Namespace)
	w.binds("tenant", "edit", w.Namespace)
	p := w.open(as("tenant"))
	operator := "/operator/Subscription/" + w.Namespace + "/rabbitmq-cluster-operator"

	p.sees("Installed in "+w.Namespace, "Nothing is installed here")
	p.lacks("strimzi")
	p.open("/catalog")
	p.fill("Search", "rabbitmq cluster")
	p.sees("of 331 packages", "RabbitMQ")
	p.accessible()
	p.open("/install?package=rabbitmq-cluster-operator&api=v0&catalog=" + global + "/community&namespace=" + w.Namespace)
	p.sees("The plan", "Created as tenant")
	p.accessible()
	p.press("Install")
	p.arrives(operator)
	p.open("/installed")
	p.sees("rabbitmq-cluster-operator", "works")
	p.lacks("strimzi")
	p.accessible()
	p.open(operator)
	p.sees("works", "Version 2.22.3 is installed")
	p.accessible()

	// What is of others is refused by the API server, with what to do.
	for _, at := range []string{"/installed", "/approvals", "/operator/Subscription/" + foreign + "/strimzi-kafka-operator", "/operator/Subscription/" + foreign + "/strimzi-kafka-operator/uninstall", "/operands", "/why?kind=why&name=strimzi-kafka-operator"} {
		sep := "?"
		if strings.Contains(at, "?") {
			sep = "&"
		}
		p.open(at + sep + "namespace=" + foreign)
		p.sees("tenant", "cannot")
		p.lacks("1.2.0")
		p.accessible()
	}

	p.open(operator + "/uninstall")
	p.sees("Goes", "Stays")
	p.fill("Type rabbitmq-cluster-operator", "rabbitmq-cluster-operator")
	p.click("Uninstall it")
	p.sees("Nothing is installed here")
}
