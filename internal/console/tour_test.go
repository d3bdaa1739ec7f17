package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/test/must"

	"github.com/blang/semver/v4"
	"golang.org/x/net/html"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// tour is a browser in a session of a console, whose user works in a fake cluster.
type tour struct {
	testing.TB
	console *Console
	user    *User
	cookie  *http.Cookie
	cluster client.WithWatch // without the limits of the user
	lacking []string         // rights that the user does not have, as "patch subscriptions"
}

const tourHost = "127.0.0.1:8090"

type tourServer struct{}

func (tourServer) ServerVersion() (*apimachineryversion.Info, error) {
	return &apimachineryversion.Info{GitVersion: "v1.36.0"}, nil
}

// newTour begins a session. The user sees the cluster as limit lets them; nil is no limit.
func newTour(t testing.TB, limit func(client.WithWatch) client.WithWatch, objects ...client.Object) *tour {
	t.Helper()
	scheme := must.Value(kubeconfig.Scheme())(t)
	must.NoError(t, packagesv1.AddToScheme(scheme))
	kite := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Kite"}
	scheme.AddKnownTypeWithName(kite, &unstructured.Unstructured{})
	scheme.AddKnownTypeWithName(kite.GroupVersion().WithKind("KiteList"), &unstructured.UnstructuredList{})
	tour := &tour{TB: t, cluster: fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme)).WithObjects(inNamespaces(objects)...).Build()}
	mine := tour.cluster
	if limit != nil {
		mine = limit(mine)
	}
	mine = interceptor.NewClient(mine, interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
		review, asks := o.(*authorizationv1.SelfSubjectAccessReview)
		if !asks {
			return c.Create(ctx, o, options...)
		}
		about := review.Spec.ResourceAttributes
		review.Status.Allowed = !slices.Contains(tour.lacking, about.Verb+" "+about.Resource)
		return nil
	}})
	tour.user = &User{Name: "dev", Namespace: "ops", client: mine, cluster: preview.Cluster{Reader: mine, Server: tourServer{}}}
	t.Setenv("OLM_CACHE_DIR", t.TempDir())
	renderer := &bundleio.Renderer{}
	library := must.Value(preview.OpenLibrary(t.Context(), renderer))(t)
	tour.console = must.Value(New(Options{Access: NewOneTime(tour.user), Hosts: []string{tourHost}, Library: library, GlobalNamespace: "olm", Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
		Changes: func(context.Context, *User, string, func()) {}}))(t)
	t.Cleanup(func() {
		tour.console.sessions.get(tour.cookie.Value).jobs.stop()
		tour.console.standings.settle() // which read with the library
		tour.console.upgrades.settle()
		tour.console.proofs.settle()
		if err := errors.Join(library.Close(), renderer.Close()); err != nil {
			t.Error(err)
		}
	})
	tour.cookie = &http.Cookie{Name: "fairlead-console-8090", Value: must.Value(tour.console.sessions.begin(tour.user))(t)}
	return tour
}

// inNamespaces adds the namespaces of objects, and that of the user.
func inNamespaces(objects []client.Object) []client.Object {
	there := map[string]bool{"": true}
	for _, o := range objects {
		if n, is := o.(*corev1.Namespace); is {
			there[n.Name] = true
		}
	}
	out := slices.Clone(objects)
	for _, o := range append(out, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ops"}}) {
		if name := o.GetNamespace(); !there[name] {
			there[name] = true
			out = append(out, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
	}
	return out
}

// ask sends a request of the session.
func (v *tour) ask(method, address string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, address, strings.NewReader(form.Encode()))
	r.Host = tourHost
	r.AddCookie(v.cookie)
	if method == http.MethodPost {
		r.Header.Set("Origin", "http://"+tourHost)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	v.console.Handler().ServeHTTP(w, r)
	return w
}

// shows is a page as a user sees it. It fails where the page is not the one that is expected by its status.
func (v *tour) shows(status int, address string) tourPage {
	v.Helper()
	w := v.ask(http.MethodGet, address, nil)
	if w.Code != status {
		v.Fatalf("%s answers %d, want %d: %s", address, w.Code, status, w.Body)
	}
	return v.parse(w)
}

func (v *tour) parse(w *httptest.ResponseRecorder) tourPage {
	v.Helper()
	root := must.Value(html.Parse(strings.NewReader(w.Body.String())))(v)
	page := tourPage{v, root}
	if scripts := page.all("script", ""); len(scripts) > 1 || len(page.all("iframe", ""))+len(page.all("object", "")) > 0 {
		v.Errorf("the page has more scripts than its own: %s", w.Body)
	}
	page.sound()
	return page
}

// sound fails where a page is not as browsers and screen readers need it: one heading of the first level, ids that are there once, fields with labels, parts that
// can be found again, and nothing that the policy forbids.
func (p tourPage) sound() {
	p.v.Helper()
	if n := len(p.all("h1", "")); n != 1 {
		p.v.Errorf("the page has %d headings of the first level", n)
	}
	ids, labelled := map[string]bool{}, map[string]bool{}
	for _, l := range p.all("label", "for=") {
		labelled[attribute(l, "for")] = true
	}
	for n := range p.root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				p.v.Errorf("%s has the attribute %s", n.Data, a.Key)
			}
			if a.Key == "data-part" && attribute(n, "id") == "" {
				p.v.Errorf("a part has no id: %s", textOf(n))
			}
			if a.Key == "id" && ids[a.Val] {
				p.v.Errorf("the id %s is there twice", a.Val)
			}
			ids[a.Val] = ids[a.Val] || a.Key == "id"
		}
		if slices.Contains([]string{"input", "select", "textarea"}, n.Data) && attribute(n, "type") != "hidden" && !labelled[attribute(n, "id")] && !within(n, "label") {
			p.v.Errorf("the field %s has no label", attribute(n, "name"))
		}
		if slices.Contains([]string{"button", "a"}, n.Data) && (textOf(n) == "" || within(n, "a") || within(n, "button")) {
			p.v.Errorf("a %s has no text, or is within another one: %v", n.Data, n.Attr)
		}
		if n.Data == "table" && len(n.Parent.Attr) == 0 {
			p.v.Error("a table cannot be scrolled")
		}
	}
}

func within(n *html.Node, name string) bool {
	for p := range n.Ancestors() {
		if p.Data == name {
			return true
		}
	}
	return false
}

// posts sends a form with its token, and returns the answer.
func (v *tour) posts(address string, fields ...string) *httptest.ResponseRecorder {
	v.Helper()
	form := url.Values{formKey: {v.console.sessions.get(v.cookie.Value).formToken()}}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	return v.ask(http.MethodPost, address, form)
}

// does sends a form that is to be done, and returns the page that follows.
func (v *tour) does(address string, fields ...string) tourPage {
	v.Helper()
	w := v.posts(address, fields...)
	if w.Code != http.StatusSeeOther {
		v.Fatalf("%s answers %d: %s", address, w.Code, v.parse(w).text("main"))
	}
	to := w.Header().Get("Location")
	if to == "/" { // which leads on
		to = "/installed"
	}
	return v.shows(http.StatusOK, to)
}

// refuses sends a form that is to be refused, and returns the page that says why.
func (v *tour) refuses(status int, address string, fields ...string) string {
	v.Helper()
	w := v.posts(address, fields...)
	if w.Code != status {
		v.Fatalf("%s answers %d, want %d: %s", address, w.Code, status, w.Body)
	}
	text := v.parse(w).text("main")
	must.Contain(v, "the remedy", text, "What to do: ")
	return text
}

// answers is the answer to a program.
func answers[T any](v *tour, address string) (value T) {
	v.Helper()
	w := v.ask(http.MethodGet, "/api"+address, nil)
	if w.Code != http.StatusOK {
		v.Fatalf("/api%s answers %d: %s", address, w.Code, w.Body)
	}
	must.NoError(v, json.Unmarshal(w.Body.Bytes(), &value))
	return value
}

// tourPage is a page as it was parsed.
type tourPage struct {
	v    *tour
	root *html.Node
}

// all are the elements of a name whose attributes have a text.
func (p tourPage) all(name, attributes string) (found []*html.Node) {
	for n := range p.root.Descendants() {
		if n.Type != html.ElementNode || n.Data != name {
			continue
		}
		var all []string
		for _, a := range n.Attr {
			all = append(all, a.Key+"="+a.Val)
		}
		if strings.Contains(strings.Join(all, "\n"), attributes) {
			found = append(found, n)
		}
	}
	return found
}

// text is that of the first element of a name, or of the one of an id, as #found.
func (p tourPage) text(where string) string {
	p.v.Helper()
	found := []*html.Node(nil)
	if id, is := strings.CutPrefix(where, "#"); is {
		for n := range p.root.Descendants() {
			if n.Type == html.ElementNode && attribute(n, "id") == id {
				found = append(found, n)
			}
		}
	} else {
		found = p.all(where, "")
	}
	if len(found) == 0 {
		p.v.Fatalf("the page has no %s", where)
	}
	return textOf(found[0])
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// button is the button of a text.
func (p tourPage) button(text string) *html.Node {
	p.v.Helper()
	for _, b := range p.all("button", "") {
		if strings.HasPrefix(textOf(b), text) {
			return b
		}
	}
	p.v.Fatalf("the page has no button %s: %s", text, p.text("main"))
	return nil
}

// disabled reports whether a button cannot be used.
func disabled(b *html.Node) bool {
	return slices.ContainsFunc(b.Attr, func(a html.Attribute) bool { return a.Key == "disabled" })
}

// ends waits until all that the session has begun has ended, and returns it.
func (v *tour) ends() []Job {
	v.Helper()
	session := v.console.sessions.get(v.cookie.Value)
	var all []Job
	must.Eventually(v, "the end of what was begun", func() error {
		all = session.jobs.shown(time.Now())
		for _, j := range all {
			if j.Running() {
				return fmt.Errorf("%s is under way: %v", j.Title, j.Steps)
			}
		}
		return nil
	})
	return all
}

// subscribes is a Subscription with the ClusterServiceVersion that it has installed, and its Deployment.
func subscribes(namespace, name string, changes ...func(*v1alpha1.Subscription, *v1alpha1.ClusterServiceVersion)) []client.Object {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "sub"},
		Spec: &v1alpha1.SubscriptionSpec{Package: name, Channel: "stable", CatalogSource: "cat", CatalogSourceNamespace: "olm"}}
	sub.Status.InstalledCSV, sub.Status.CurrentCSV, sub.Status.State = name+".v1.0.0", name+".v1.0.0", v1alpha1.SubscriptionStateAtLatest
	sub.Status.Conditions = []v1alpha1.SubscriptionCondition{{Type: "Ready", Status: "True", Reason: "Installed", Message: "it runs", LastTransitionTime: &metav1.Time{Time: time.Now().Add(-time.Hour)}}}
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + ".v1.0.0", UID: "csv"}}
	csv.Spec.Version.Version = semver.MustParse("1.0.0")
	csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "kites.example.com", Kind: "Kite", Version: "v1"}}
	csv.Status.Phase = v1alpha1.CSVPhaseSucceeded
	for _, change := range changes {
		change(sub, csv)
	}
	return []client.Object{sub, csv}
}

// fails lets an operator fail.
func fails(sub *v1alpha1.Subscription, csv *v1alpha1.ClusterServiceVersion) {
	sub.Status.Conditions[0] = v1alpha1.SubscriptionCondition{Type: "Ready", Status: "False", Reason: "ComponentUnhealthy", Message: "it does not work"}
	csv.Status.Phase, csv.Status.Message = v1alpha1.CSVPhaseFailed, "waiting for its Deployment"
}

// deployed is the Deployment of a Subscription of the tests, with a pod that does not run.
func deployed(namespace, name, message string) []client.Object {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{v1alpha1.OwnerLabel: name + ".v1.0.0"}}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	d.Status.Conditions = []appsv1.DeploymentCondition{{Type: "Available", Status: "False", Message: "Deployment does not have minimum availability."}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + "-7d-abc", Labels: map[string]string{"app": name}}}
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: "False"}}, ContainerStatuses: []corev1.ContainerStatus{{Name: "manager",
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: message}}}}}
	return []client.Object{d, pod}
}

// extended is a ClusterExtension with revisions, each of which holds a ConfigMap with a value; the newest is installed.
func extended(namespace, name string, values ...string) []client.Object {
	e := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "ext"}}
	e.Spec.Namespace = namespace
	e.Spec.Source = olmv1.SourceConfig{SourceType: "Catalog", Catalog: &olmv1.CatalogFilter{PackageName: name, Channels: []string{"stable"}}}
	e.Status.Install = &olmv1.ClusterExtensionInstallStatus{Bundle: olmv1.BundleMetadata{Name: name + ".v2", Version: "2.0.0"}}
	for _, kind := range []string{olmv1.TypeInstalled, "Ready", olmv1.TypeProgressing} {
		e.Status.Conditions = append(e.Status.Conditions, metav1.Condition{Type: kind, Status: "True", Reason: "Succeeded", LastTransitionTime: metav1.Now()})
	}
	objects := []client.Object{e}
	yes := true
	for i, value := range values {
		n := int64(i + 1)
		set := &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, n), Labels: map[string]string{olmv1.OwnerNameKey: name, olmv1.OwnerKindKey: olmv1.ClusterExtensionKind},
			Annotations:     map[string]string{olmv1.BundleNameKey: fmt.Sprintf("%s.v%d", name, n), olmv1.BundleVersionKey: fmt.Sprintf("%d.0.0", n)},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: name, UID: "ext", Controller: &yes}}}}
		set.UID, set.CreationTimestamp = types.UID(set.Name), metav1.NewTime(time.Now().Add(time.Duration(i-9)*time.Hour))
		set.Spec.Revision, set.Spec.LifecycleState = n, olmv1.LifecycleStateArchived
		if i == len(values)-1 {
			set.Spec.LifecycleState = olmv1.LifecycleStateActive
		}
		set.Status.Conditions = []metav1.Condition{{Type: olmv1.TypeSucceeded, Status: "True", Reason: "Succeeded"}, {Type: olmv1.TypeAvailable, Status: "True", Reason: "Succeeded"}}
		held := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings", "namespace": namespace}, "data": map[string]any{"mode": value}}}
		set.Spec.Phases = []olmv1.ClusterObjectSetPhase{{Name: "deploy", Objects: []olmv1.ClusterObjectSetObject{{Object: held}}}}
		objects = append(objects, set)
	}
	return objects
}

// kiteDefinition is the definition of the custom resources of the tests.
func kiteDefinition() client.Object {
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "kites.example.com", UID: "crd"}}
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{Group: "example.com", Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Kite", Plural: "kites"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}}}
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: "True"}}
	return crd
}

func aKite(namespace, name, text string) client.Object {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Kite", "metadata": map[string]any{"namespace": namespace, "name": name}, "spec": map[string]any{"text": text}}}
}

// settle waits for all readings that are under way: what they read with can be closed then.
func (l *readings[K, V]) settle() {
	l.mu.Lock()
	var under []chan struct{}
	for _, r := range l.kept {
		r.mu.Lock()
		if r.under != nil {
			under = append(under, r.under)
		}
		r.mu.Unlock()
	}
	l.mu.Unlock()
	for _, reading := range under {
		<-reading
	}
}

// stop stops all that is under way.
func (j *jobs) stop() {
	for _, job := range j.shown(time.Now()) {
		j.end(job.ID)
	}
}
