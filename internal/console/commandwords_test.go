package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/test/must"

	"golang.org/x/net/html"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lineWords are of the command line: a page has them only where it shows a command, as code.
var lineWords = []string{"--", " -n ", "fairlead ", "kubectl "}

// prose is the text of the main part of a page without the commands that it shows.
func (p shopPage) prose() string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		if n.Type == html.ElementNode && (n.Data == "code" || n.Data == "pre" || n.Data == "textarea") {
			return
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(p.find("main", "")[0])
	return strings.Join(strings.Fields(b.String()), " ")
}

// TestObstaclesInWordsOfTheForm: what is in the way of an install names the field or the page that helps, in its plan as well as when it is sent, and no flag.
func TestObstaclesInWordsOfTheForm(t *testing.T) {
	group := func(name string) client.Object {
		return &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name}}
	}
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "greeter-operator"}, Spec: &v1alpha1.SubscriptionSpec{Package: "greeter-operator", Channel: "alpha"}}
	extension := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "greeter-operator"}, Spec: olmv1.ClusterExtensionSpec{Namespace: "elsewhere"}}
	going := extension.DeepCopy()
	going.Finalizers, going.DeletionTimestamp = []string{"x/y"}, &metav1.Time{Time: metav1.Now().Time}
	for name, test := range map[string]struct {
		objects      []client.Object
		with         url.Values
		text, remedy string
	}{
		"a Subscription":               {[]client.Object{sub}, url.Values{"channel": {"stable"}}, "there is Subscription ops/greeter-operator already", "see it at Installed"},
		"a ClusterExtension":           {[]client.Object{extension}, url.Values{"catalog": {"samples"}}, "there is ClusterExtension greeter-operator already", "see it at Installed"},
		"one that goes":                {[]client.Object{going}, url.Values{"catalog": {"samples"}}, "ClusterExtension greeter-operator is being deleted", "see it at Installed"},
		"two OperatorGroups":           {[]client.Object{group("a"), group("b")}, nil, "namespace ops has 2 OperatorGroups", "write another namespace into the form"},
		"an OperatorGroup, to watch":   {[]client.Object{group("a")}, url.Values{"mode": {"OwnNamespace"}}, "the namespace has an OperatorGroup already, which says what operators watch: a", "leave the namespaces to watch empty"},
		"namespace default":            {nil, url.Values{"namespace": {"default"}}, "namespace default has no OperatorGroup", "write another namespace into the form"},
		"a channel":                    {nil, url.Values{"channel": {"beta"}}, "it has no channel beta", "choose another channel in the form"},
		"a version":                    {nil, url.Values{"version": {"greeter-operator.v9.0.0"}}, "no version is called greeter-operator.v9.0.0 (the newest is greeter-operator.v1.2.0)", "choose another version in the form"},
		"a version, by the v1 API":     {nil, url.Values{"version": {"9"}, "catalog": {"samples"}}, `no version is in the range "9"`, "choose another version in the form"},
		"no range":                     {nil, url.Values{"version": {">>1"}, "catalog": {"samples"}}, "install package greeter-operator: version: ", "choose another version in the form"},
		"a ServiceAccount":             {nil, url.Values{"account": {"no-one"}, "catalog": {"samples"}}, "there is no ServiceAccount no-one in namespace ops", "write another ServiceAccount into the form"},
		"a namespace and its accounts": {nil, url.Values{"account": {"no-one"}, "catalog": {"samples"}, "namespace": {"nowhere"}}, "there is no ServiceAccount no-one in namespace nowhere", "write another ServiceAccount into the form"},
	} {
		t.Run(name, func(t *testing.T) {
			v := newShopping(t, test.objects...)
			fields := url.Values{"package": {"greeter-operator"}, "catalog": {"olm/samples"}, "namespace": {"ops"}}
			for key, values := range test.with {
				fields[key] = values
			}
			page := v.get("/install?" + fields.Encode())
			must.Contain(t, "the plan", page.says(), "It cannot be asked for", test.text, "What to do: ", test.remedy)
			must.Lack(t, "the plan", page.prose(), lineWords...)
			var answer struct {
				Plan struct{ Obstacle, Remedy string }
			}
			must.Equal(t, "for programs", v.json("/install?"+fields.Encode(), &answer), http.StatusOK)
			must.Contain(t, "for programs", answer.Plan.Obstacle, test.text)
			must.Contain(t, "for programs", answer.Plan.Remedy, test.remedy)
			must.Lack(t, "for programs", answer.Plan.Obstacle+answer.Plan.Remedy, lineWords...)
			fields.Set(shownKey, page.fields("/install").Get(shownKey))
			w := v.post("/install/create", fields)
			if w.Code < 400 || w.Code >= 500 {
				t.Errorf("the status is %d, and the fault is in the form", w.Code)
			}
			failed := v.page(w)
			must.Contain(t, "when it is sent", failed.says(), test.text, "What to do: go back, and ", test.remedy)
			must.Lack(t, "when it is sent", failed.prose(), lineWords...)
		})
	}
}

// TestErrorsOfChangesWithoutCommands: upgrades, holds, rollbacks and removals that cannot be say so in terms of the console.
func TestErrorsOfChangesWithoutCommands(t *testing.T) {
	alone := extended("apps", "alone", "a")
	v := newTour(t, nil, append(subscribes("ops", "mine"), alone...)...)
	extension := "/operator/ClusterExtension/apps/alone"
	check := func(name, text string) {
		t.Helper()
		must.Contain(t, name, text, "What to do: ")
		must.Lack(t, name, text, lineWords...)
	}
	for _, address := range []string{extension + "/rollback", extension + "/rollback?to=7", extension + "/rollback?to=x", extension + "/uninstall?delete=secrets.example.com",
		"/operator/Subscription/ops/mine/uninstall?delete=secrets.example.com", "/operator/ClusterServiceVersion/ops/mine.v1.0.0/upgrade", "/operator/Subscription/ops/none/upgrade",
		"/operator/ClusterExtension/apps/none/rollback", "/operator/ClusterExtension/apps/none/uninstall", "/operator/Subscription/ops/none/diff"} {
		w := v.ask(http.MethodGet, address, nil)
		if w.Code < 400 {
			t.Errorf("%s: the status is %d", address, w.Code)
		}
		check(address, v.parse(w).text("main"))
	}
	must.NoError(t, v.cluster.Delete(t.Context(), alone[0]))
	for _, path := range []string{"/hold", "/release", "/rollback", "/upgrade", "/uninstall"} {
		w := v.ask(http.MethodPost, extension+path, url.Values{"form": {v.console.sessions.get(v.cookie.Value).formToken()}, "confirm": {"alone"}, "reason": {"r"}, "channel": {"c"}, shownKey: {map[string]string{"/upgrade": upgradeChoice("c", "")}[path]}})
		if w.Code < 400 {
			t.Errorf("%s: the status is %d", path, w.Code)
		}
		check(path, v.parse(w).text("main"))
	}
	must.Lack(t, "an upgrade that waits", approvalAwaited(&ops.WaitsError{Subscription: client.ObjectKey{Namespace: "ops", Name: "mine"}, Plan: "InstallPlan install-1"}), lineWords...)
}
