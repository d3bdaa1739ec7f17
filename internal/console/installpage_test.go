package console

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestInstallASubscription goes from the form, with its plan, to the objects: a namespace that does not exist, an OperatorGroup, and a Subscription
// that asks for approval.
func TestInstallASubscription(t *testing.T) {
	v := newShopping(t)
	page := v.get("/install?package=guestbook-operator&catalog=olm/samples&namespace=books&approval=manual")
	page.harmless()
	must.Equal(t, "status", page.status, 200)
	must.Contain(t, "the plan", page.says(), "guestbook-operator.v1.2.0", "greeter-operator.v1.2.0", "comes along", "guestbooks.demo.fairlead.dev", "new", "in the whole cluster",
		"Created as dev: Namespace books, OperatorGroup books/books, Subscription books/guestbook-operator",
		"fairlead install guestbook-operator --namespace books --catalog olm/samples --manual", "kind: OperatorGroup", "installPlanApproval: Manual")
	fields := page.fields("/install/create")
	w := v.post("/install/create", fields)
	must.Equal(t, "where it leads", w.Header().Get("Location"), "/operator/Subscription/books/guestbook-operator")
	sub, group := &v1alpha1.Subscription{}, &operatorsv1.OperatorGroup{}
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Name: "books"}, &corev1.Namespace{}))
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Namespace: "books", Name: "books"}, group))
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Namespace: "books", Name: "guestbook-operator"}, sub))
	must.Equal(t, "approval", sub.InstallPlanApproval(), v1alpha1.ApprovalManual)
	must.Equal(t, "catalog and channel", []string{sub.Spec.CatalogSourceNamespace, sub.Spec.CatalogSource, sub.Spec.Channel}, []string{"olm", "samples", "stable"})
	s := must.Value(v.session())(t)
	must.Contain(t, "the notice", s.notice, "Namespace books", "waits for approval")
}

// TestInstallAnExtension does the same by the v1 API, with a configuration by fields and in YAML.
func TestInstallAnExtension(t *testing.T) {
	v := newShopping(t)
	page := v.get("/install?package=greeter-operator&catalog=samples&namespace=greet")
	page.harmless()
	must.Contain(t, "the plan", page.says(), "Bundle greeter-operator.v1.2.0", "Deployment greet/greeter-operator", "greetings.demo.fairlead.dev", "in the whole cluster",
		"Created as dev: Namespace greet, ClusterExtension greeter-operator", "--api v1 --namespace greet --catalog samples --create-namespace", "packageName: greeter-operator")
	fields := page.fields("/install")
	if !fields.Has("config.string.watchNamespace") {
		t.Errorf("the form has no field for the namespace to watch: %v", fields)
	}
	fields.Set("config.string.watchNamespace", "greet")
	fields.Set("config", "deploymentConfig:\n  nodeSelector: {disk: fast}\n")
	fields.Set("version", ">=1.0.0 <1.2.0")
	planned := v.page(v.post("/install", fields))
	planned.harmless()
	where := planned.find("form", "")[0]
	must.Equal(t, "what the form of the namespace keeps", []string{attribute(elements(where, "input", "name")[0], "name"), attribute(elements(where, "input", "name")[0], "value")}, []string{"api", "v1"})
	must.Contain(t, "the plan of the form", planned.says(), "Bundle greeter-operator.v1.1.0", "watchNamespace: greet", "disk: fast")
	create := planned.fields("/install/create")
	w := v.post("/install/create", create)
	must.Equal(t, "where it leads", w.Header().Get("Location"), "/operator/ClusterExtension/greet/greeter-operator")
	e := &olmv1.ClusterExtension{}
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Name: "greeter-operator"}, e))
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Name: "greet"}, &corev1.Namespace{}))
	must.Equal(t, "the version", e.Spec.Source.Catalog.Version, ">=1.0.0 <1.2.0")
	var config map[string]any
	must.NoError(t, json.Unmarshal(e.Spec.Config.Inline.Raw, &config))
	must.Equal(t, "the configuration", config, map[string]any{"watchNamespace": "greet", "deploymentConfig": map[string]any{"nodeSelector": map[string]any{"disk": "fast"}}})
}

// TestPlanIsThatOfTheCommand: what the page shows is the value that `fairlead plan -f` prints of the manifests that it shows.
func TestPlanIsThatOfTheCommand(t *testing.T) {
	v := newShopping(t)
	var shown installPage
	must.Equal(t, "status", v.json("/install?package=greeter-operator&catalog=samples&namespace=ops", &shown), 200)
	var o preview.Objects
	must.NoError(t, o.Decode("manifests", strings.NewReader(shown.Plan.Manifests)))
	q := must.Value(v.console.extensions(t.Context(), v.user))(t)
	q.Objects.Extensions = append(q.Objects.Extensions, o.Extensions...)
	plan := must.Value(preview.Planner{Client: v.user.client, Library: v.library, Fetch: v.library.Fetch}.Plan(t.Context(), q, "greeter-operator"))(t)
	must.Equal(t, "the plan", shopJSON(t, shown.Plan.Extension), shopJSON(t, plan))
	if len(plan.Added) == 0 || plan.Permissions == "" || len(plan.CRDs) == 0 {
		t.Errorf("the plan says nothing: %+v", plan)
	}

	must.Equal(t, "status", v.json("/install?package=guestbook-operator&catalog=olm/samples&namespace=ops", &shown), 200)
	o = preview.Objects{}
	must.NoError(t, o.Decode("manifests", strings.NewReader(shown.Plan.Manifests)))
	q = must.Value(v.console.namespaced(t.Context(), v.user, "ops"))(t)
	q.Objects.Subscriptions, q.Objects.Groups = o.Subscriptions, o.Groups
	subscribed := must.Value(preview.Planner{Client: v.user.client, Library: v.library, Fetch: v.library.Fetch}.Subscription(t.Context(), q, "guestbook-operator"))(t)
	must.Equal(t, "the plan of the Subscription", shopJSON(t, shown.Plan.Subscription), shopJSON(t, subscribed))
	must.Equal(t, "operators", len(subscribed.Operators), 2)
}

func shopJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.MarshalIndent(value, "", "  ")
	must.NoError(t, err)
	return string(text)
}

// TestWrongForms: what cannot be is said of its field, and no plan is made; the values stay in the form.
func TestWrongForms(t *testing.T) {
	v := newShopping(t)
	for name, test := range map[string]struct {
		change map[string]string
		v1     bool
		want   []string
	}{
		"a namespace":                  {map[string]string{"namespace": "Bad_Name"}, false, []string{"namespace", "Bad_Name"}},
		"a channel":                    {map[string]string{"channel": "<script>"}, false, []string{"channel"}},
		"a channel that is not there":  {map[string]string{"channel": "beta"}, false, []string{"it has no channel beta", "its channels are stable", "What to do: choose another channel in the form."}},
		"a version that is not there":  {map[string]string{"version": "greeter-operator.v9.0.0"}, false, []string{"no version is called greeter-operator.v9.0.0", "choose another version in the form"}},
		"one namespace, of none":       {map[string]string{"mode": "SingleNamespace"}, false, []string{"SingleNamespace", "name it"}},
		"several namespaces, of none":  {map[string]string{"mode": "MultiNamespace"}, false, []string{"name at least one"}},
		"all namespaces, and some":     {map[string]string{"mode": "AllNamespaces", "watch": "a,b"}, false, []string{"leave them out"}},
		"a namespace to watch":         {map[string]string{"mode": "MultiNamespace", "watch": "a,B!"}, false, []string{"watch", "B!"}},
		"the API of the other catalog": {map[string]string{"api": "v1"}, false, []string{"is not for the v1 API"}},
		"an API that no one knows":     {map[string]string{"api": "v7"}, false, []string{`no API "v7"`}},
		"a range":                      {map[string]string{"version": ">>1"}, true, []string{">>1", "choose another version in the form"}},
		"an account":                   {map[string]string{"account": "No_One"}, true, []string{"account", "No_One"}},
		"an account that is not there": {map[string]string{"account": "nobody"}, true, []string{"there is no ServiceAccount nobody", "write another ServiceAccount into the form"}},
		"a name":                       {map[string]string{"name": "A B"}, true, []string{"name", "A B"}},
		"YAML":                         {map[string]string{"config": "a: [1"}, true, []string{"cannot be read as YAML", "write an object"}},
		"YAML that is no object":       {map[string]string{"config": "[1]"}, true, []string{"write an object"}},
		"a configuration":              {map[string]string{"config": "nonsense: 1"}, true, []string{`unknown field "nonsense"`}},
		"a value of a wrong type":      {map[string]string{"config.boolean.x": "maybe"}, true, []string{"wrong value of x", "neither true nor false"}},
		"a type that there is not":     {map[string]string{"config.object.x": "{}"}, true, []string{"write it as YAML"}},
	} {
		t.Run(name, func(t *testing.T) {
			fields := url.Values{"package": {"greeter-operator"}, "catalog": {"olm/samples"}, "namespace": {"ops"}}
			if test.v1 {
				fields.Set("catalog", "samples")
			}
			for key, value := range test.change {
				fields.Set(key, value)
			}
			page := v.page(v.post("/install", fields))
			page.harmless()
			must.Equal(t, "status", page.status, 200)
			must.Contain(t, "the page", page.says(), test.want...)
			must.Lack(t, "words of the command line", page.prose(), lineWords...)
			if fields.Has("config") && strings.HasPrefix(fields.Get("config"), "nonsense") {
				return // the manager says what is wrong with it, and it can be asked for
			}
			fields.Set("shown", page.fields("/install").Get("shown"))
			if w := v.post("/install/create", fields); w.Code < 400 {
				t.Errorf("the form is accepted: %d, %s", w.Code, w.Header().Get("Location"))
			}
		})
	}
}

// TestFormKeepsNames: a form that is sent again asks for the same, however many names it has.
func TestFormKeepsNames(t *testing.T) {
	v := newShopping(t)
	var names []string
	for i := range 2 * maxInRule {
		names = append(names, fmt.Sprintf("team-%d", i))
	}
	page := v.get("/install?package=greeter-operator&catalog=olm/samples&namespace=greet&mode=MultiNamespace&watch=" + strings.Join(names, ","))
	must.Equal(t, "namespaces to watch", page.fields("/install").Get("watch"), strings.Join(names, ", "))
}

// TestLongOrder: forms that no address could have are planned as well, and not kept.
func TestLongOrder(t *testing.T) {
	v := newShopping(t)
	long := "deploymentConfig:\n  env:\n"
	for i := range 300 {
		long += fmt.Sprintf("  - {name: VARIABLE_%d, value: some text}\n", i)
	}
	fields := url.Values{"package": {"greeter-operator"}, "catalog": {"samples"}, "namespace": {"ops"}, "config": {long}}
	answer := v.post("/install", fields)
	must.Contain(t, "a page that is not read again: no address has its order", answer.Body.String(), ` data-follow="">`)
	page := v.page(answer)
	must.Contain(t, "the page", page.says(), "Bundle greeter-operator.v1.2.0", "VARIABLE_299")
	must.Lack(t, "the page", page.says(), "Address of this plan")
	must.Equal(t, "plans that are kept", len(v.console.front.plans.kept), 0)
	must.Equal(t, "status", v.post("/install/create", page.fields("/install/create")).Code, 303)
	fields.Set("config", "deploymentConfig: {}")
	must.Contain(t, "a form that an address can have leads to it", v.post("/install", fields).Header().Get("Location"), "/install?api=v1&catalog=samples&config=%7B%22deploymentConfig%22")
	fields.Set("config", "a: "+strings.Repeat("x", 1<<20))
	must.Contain(t, "too long", v.page(v.post("/install", fields)).says(), "it is larger than 1 MiB")
}

// TestInstallWithoutRights: the button is disabled and says which right is missing; who sends the form all the same is refused by the API server.
func TestInstallWithoutRights(t *testing.T) {
	v := newShopping(t)
	v.lacks = []string{"create namespaces", "create operatorgroups"}
	page := v.get("/install?package=greeter-operator&catalog=olm/samples&namespace=books")
	must.Contain(t, "the page", page.says(), "dev may not create namespaces; dev may not create operatorgroups.operators.coreos.com in namespace books")
	must.Lack(t, "the page", page.says(), "may not create subscriptions")
	for _, button := range page.find("button", "disabled") {
		if textOf(button) == "Install" {
			return
		}
	}
	t.Error("the button is not disabled")
}

// TestInstallWhatIsThere says so, and creates nothing.
func TestInstallWhatIsThere(t *testing.T) {
	v := newShopping(t)
	fields := v.get("/install?package=greeter-operator&catalog=olm/samples&namespace=ops").fields("/install/create")
	must.Equal(t, "status", v.post("/install/create", fields).Code, 303)
	v.forget() // the plan that is kept for a while
	page := v.get("/install?package=greeter-operator&catalog=olm/samples&namespace=ops")
	must.Contain(t, "the page", page.says(), "All of it is there already", "OperatorGroup ops of namespace ops says what operators watch")
	page = v.get("/install?package=greeter-operator&catalog=olm/samples&namespace=ops&channel=stable&approval=manual")
	must.Contain(t, "another one", page.says(), "It cannot be asked for", "there is Subscription ops/greeter-operator already")
	if w := v.post("/install/create", page.fields("/install")); w.Code < 400 {
		t.Errorf("it is created: %d", w.Code)
	}
}

// TestFormChangedAfterItsPlan: what is installed is what its plan was shown of; a form that says something else by now leads to the plan of that, and creates nothing.
func TestFormChangedAfterItsPlan(t *testing.T) {
	v := newShopping(t)
	fields := v.get("/install?package=greeter-operator&catalog=olm/samples&namespace=ops").fields("/install/create")
	must.Equal(t, "approval as shown", fields.Get("approval"), "automatic")
	fields.Set("approval", "manual")
	fields.Set("version", "greeter-operator.v1.0.0")
	w := v.post("/install/create", fields)
	must.Equal(t, "status", w.Code, 303)
	must.Contain(t, "where it leads", w.Header().Get("Location"), "/install?", "approval=manual", "version=greeter-operator.v1.0.0")
	if err := v.cluster.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: "greeter-operator"}, &v1alpha1.Subscription{}); !apierrors.IsNotFound(err) {
		t.Errorf("it is created: %v", err)
	}
	page := v.page(w)
	must.Contain(t, "the plan of what it says now", page.says(), "greeter-operator.v1.0.0", "Created as dev")
	must.Contain(t, "where the next one leads", v.post("/install/create", page.fields("/install/create")).Header().Get("Location"), "/operator/Subscription/ops/greeter-operator")
	sub := &v1alpha1.Subscription{}
	must.NoError(t, v.cluster.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: "greeter-operator"}, sub))
	must.Equal(t, "what was asked for", []string{string(sub.Spec.InstallPlanApproval), sub.Spec.StartingCSV}, []string{"Manual", "greeter-operator.v1.0.0"})
}

// TestInstallNothing: a page without a package, or with one that no catalog has, says where to find one.
func TestInstallNothing(t *testing.T) {
	v := newShopping(t)
	for address, want := range map[string]struct {
		status int
		text   string
	}{
		"/install":                         {400, "No package is named"},
		"/install?package=greter-operator": {404, "did you mean greeter-operator?"},
		"/install?package=greeter-operator&catalog=olm/other":        {404, "choose another catalog"},
		"/install?package=<script>alert(1)</script>&catalog=samples": {404, "<script>alert(1)</script>"},
	} {
		page := v.get(address)
		page.harmless()
		must.Equal(t, "status of "+address, page.status, want.status)
		must.Contain(t, address, page.says(), want.text)
	}
}
