package ops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/crds"
	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/config"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"
)

// examined is the time of the examinations.
var examined = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// ward is a cluster that is examined.
type ward struct {
	t       *testing.T
	objects map[string]client.Object // by kind and name
	allowed func(*authorizationv1.SubjectAccessReviewSpec) bool
	list    func(ctx context.Context, list client.ObjectList) error
	server  func(context.Context) (ServerAnswer, error)
}

func (w *ward) add(objects ...client.Object) {
	for _, o := range objects {
		kind := strings.TrimPrefix(fmt.Sprintf("%T", o), "*")
		w.objects[kind[strings.Index(kind, ".")+1:]+" "+strings.TrimPrefix(client.ObjectKeyFromObject(o).String(), "/")] = o
	}
}

func (w *ward) drop(names ...string) {
	for _, name := range names {
		if w.objects[name] == nil {
			w.t.Fatalf("there is no %s", name)
		}
		delete(w.objects, name)
	}
}

// objectOf is an object of the ward.
func objectOf[T client.Object](w *ward, name string) T {
	w.t.Helper()
	o, ok := w.objects[name].(T)
	if !ok {
		w.t.Fatalf("there is no %s", name)
	}
	return o
}

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(examined.Add(-time.Hour))}
}

func managerDeployment(namespace, name string, args ...string) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: named(namespace, name), Status: appsv1.DeploymentStatus{AvailableReplicas: 2}}
	d.Labels = map[string]string{"app": managerName}
	d.Spec.Replicas = new(int32(2))
	d.Spec.Template.Spec.ServiceAccountName = managerName
	d.Spec.Template.Spec.Containers = []corev1.Container{{Args: append([]string{"--leader-election", "--global-namespace=olm"}, args...)}}
	return d
}

const writtenAnnotation = "test/written"

// leased is a lease that a client with a clock of its own wrote a while ago.
func leased(namespace, name, holder string, ago, ahead time.Duration) *coordinationv1.Lease {
	l := &coordinationv1.Lease{ObjectMeta: named(namespace, name)}
	l.Annotations = map[string]string{writtenAnnotation: examined.Add(-ago).Format(time.RFC3339)}
	renewed := metav1.NewMicroTime(examined.Add(ahead - ago))
	l.Spec = coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: new(int32(15)), RenewTime: &renewed}
	return l
}

// service is one with a pod that is ready or not.
func service(namespace, name string, ready bool) []client.Object {
	slice := &discoveryv1.EndpointSlice{ObjectMeta: named(namespace, name+"-1"), Endpoints: []discoveryv1.Endpoint{{Conditions: discoveryv1.EndpointConditions{Ready: &ready}}}}
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: name}
	return []client.Object{&corev1.Service{ObjectMeta: named(namespace, name)}, slice}
}

// certified is a certificate for a Service, issued a while ago for a life.
func certified(t *testing.T, host string, ago, life time.Duration) serving.Certificate {
	t.Helper()
	return must.Value(serving.Issue(serving.Request{Hosts: []string{host}, Now: examined.Add(-ago), Life: life}))(t)
}

func certificateSecret(namespace, name string, c serving.Certificate) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: named(namespace, name), Data: map[string][]byte{"tls.crt": c.Certificate, "tls.key": c.Key}}
}

const day = 24 * time.Hour

// shippedDefinitions are read once: that takes as long as an examination.
var shippedDefinitions = sync.OnceValues(crds.All)

// well is a cluster with which nothing is wrong.
func well(t *testing.T) *ward {
	t.Helper()
	w := &ward{t: t, objects: map[string]client.Object{}, allowed: func(*authorizationv1.SubjectAccessReviewSpec) bool { return false }}
	w.server = func(context.Context) (ServerAnswer, error) {
		return ServerAnswer{Address: "https://example.com", Version: "v1.36.0", Date: examined}, nil
	}
	w.add(managerDeployment("olm", managerName), leased("olm", managerName, "fairlead-manager-abc_1234", 2*time.Second, 0), leased("kube-node-lease", "node-1", "node-1", 3*time.Second, 0),
		&corev1.Namespace{ObjectMeta: named("", "olm")}, &corev1.ServiceAccount{ObjectMeta: named("olm", managerName)})
	for document := range strings.SplitSeq(string(config.Rights), "\n---\n") {
		for kind, o := range map[string]client.Object{"ClusterRole": &rbacv1.ClusterRole{}, "ClusterRoleBinding": &rbacv1.ClusterRoleBinding{}, "Role": &rbacv1.Role{}, "RoleBinding": &rbacv1.RoleBinding{}} {
			if strings.Contains(document, "\nkind: "+kind+"\nmetadata:") {
				must.NoError(t, yaml.Unmarshal([]byte(document), o))
				w.add(o)
			}
		}
	}
	for _, d := range must.Value(shippedDefinitions())(t) {
		w.add(d.DeepCopy())
	}
	policies, bindings, err := permissions.ShippedPolicies("olm")
	must.NoError(t, err)
	for i := range policies {
		w.add(policies[i], bindings[i])
	}
	catalog := &olmv1.ClusterCatalog{ObjectMeta: named("", "community")}
	catalog.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: olmv1.ReasonAvailable}}
	source := &v1alpha1.CatalogSource{ObjectMeta: named("olm", "samples"), Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: "registry.example.com/samples:latest"}}
	source.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Serving"}}
	w.add(catalog, source)
	c := certified(t, "hook.ops.svc", day, 365*day)
	w.add(append(service("ops", "hook", true), certificateSecret("ops", "hook-cert", c), webhook("ops", "hook", c.CABundle), converted(c.CABundle), apiService(c.CABundle))...)
	return w
}

func webhook(namespace, name string, bundle []byte) *admissionv1.ValidatingWebhookConfiguration {
	return &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: named("", "checks"), Webhooks: []admissionv1.ValidatingWebhook{{Name: "check.example.com",
		ClientConfig: admissionv1.WebhookClientConfig{CABundle: bundle, Service: &admissionv1.ServiceReference{Namespace: namespace, Name: name}}}}}
}

func converted(bundle []byte) *apiextensionsv1.CustomResourceDefinition {
	d := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: named("", "things.example.com")}
	d.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
		ClientConfig: &apiextensionsv1.WebhookClientConfig{CABundle: bundle, Service: &apiextensionsv1.ServiceReference{Namespace: "ops", Name: "hook"}}}}
	return d
}

func apiService(bundle []byte) *apiregistrationv1.APIService {
	return &apiregistrationv1.APIService{ObjectMeta: named("", "v1.metrics.example.com"), Spec: apiregistrationv1.APIServiceSpec{Group: "metrics.example.com", Version: "v1", CABundle: bundle,
		Service: &apiregistrationv1.ServiceReference{Namespace: "ops", Name: "hook"}}, Status: apiregistrationv1.APIServiceStatus{Conditions: []apiregistrationv1.APIServiceCondition{{Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionTrue}}}}
}

// stamp gives a lease the time at which the API server noted the write.
func stamp(t *testing.T, l *coordinationv1.Lease) {
	t.Helper()
	if text := l.Annotations[writtenAnnotation]; text != "" {
		l.ManagedFields = []metav1.ManagedFieldsEntry{{Time: new(metav1.NewTime(must.Value(time.Parse(time.RFC3339, text))(t)))}}
	}
}

// examine examines the ward. That anything but an access review is written fails the test.
func (w *ward) examine(limit time.Duration) *Diagnosis {
	w.t.Helper()
	s := fakeapi.Scheme(clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme, v1alpha1.AddToScheme, operatorsv1.AddToScheme, olmv1.AddToScheme)
	b := fake.NewClientBuilder().WithScheme(s).WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(s)).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			switch review := o.(type) {
			case *authorizationv1.SelfSubjectAccessReview:
				review.Status.Allowed = w.list == nil
			case *authorizationv1.SubjectAccessReview:
				review.Status.Allowed = w.allowed(&review.Spec)
			default:
				w.t.Errorf("%T is created", o)
			}
			return nil
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if w.list != nil {
				if err := w.list(ctx, nil); err != nil {
					return err
				}
			}
			err := c.Get(ctx, key, o, options...)
			if l, ok := o.(*coordinationv1.Lease); ok && err == nil {
				stamp(w.t, l)
			}
			return err
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if w.list != nil {
				if err := w.list(ctx, list); err != nil {
					return err
				}
			}
			err := c.List(ctx, list, options...)
			if leases, ok := list.(*coordinationv1.LeaseList); ok {
				for i := range leases.Items {
					stamp(w.t, &leases.Items[i])
				}
			}
			return err
		},
		Update: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.UpdateOption) error {
			return fmt.Errorf("%T is written", o)
		},
		Patch: func(_ context.Context, _ client.WithWatch, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
			return fmt.Errorf("%T is written", o)
		},
	})
	for _, o := range w.objects {
		b = b.WithObjects(o)
	}
	return Examine(w.t.Context(), Examination{Client: b.Build(), Namespace: "olm", Own: "team", Server: w.server, Now: func() time.Time { return examined }, Limit: limit})
}

// found are the findings of a diagnosis, one a line.
func (d *Diagnosis) found() []string {
	var lines []string
	for _, c := range d.Checks {
		for _, f := range c.Findings {
			lines = append(lines, c.Name+": "+f.Object+": "+f.Problem)
		}
	}
	return lines
}

// TestDoctorFindsNothing: with a cluster that is as it should be nothing is wrong, and there is nothing to note.
func TestDoctorFindsNothing(t *testing.T) {
	d := well(t).examine(0)
	must.Equal(t, "findings", d.found(), nil)
	for _, c := range d.Checks {
		if c.Result != CheckOK || c.Summary == "" || len(c.Notes) > 0 {
			t.Errorf("check %s: %+v", c.Name, c)
		}
	}
	var out bytes.Buffer
	must.NoError(t, d.Write(&out))
	must.Equal(t, "report", out.String(), `✓ connection          Kubernetes v1.36.0 at https://example.com
✓ manager             Deployment olm/fairlead-manager has 2 of 2 pods available; fairlead-manager-abc leads
✓ rights              ServiceAccount olm/fairlead-manager has what the manager needs
✓ other managers      none beside Fairlead's
✓ definitions         `+fmt.Sprint(len(must.Value(shippedDefinitions())(t)))+` definitions, none older than those of this program
✓ admission policies  those of the v1 API are in force
✓ catalog namespace   olm
✓ catalogs            2 catalogs
✓ webhooks            2 webhooks of Services
✓ API services        1 API of Services
✓ certificates        those of 3 webhooks and APIs are valid, as far as Secrets hold them
✓ clocks              within 10s of that of the API server

12 checks: 12 found nothing wrong, 0 failed, 0 with notes only
`)
}

// TestDoctor: of each set-up that is broken is said what is wrong with which object, and nothing else.
func TestDoctor(t *testing.T) {
	const hook = "ValidatingWebhookConfiguration checks, webhook check.example.com"
	const refused = "; requests that it is asked about are refused (failurePolicy Fail)"
	for name, test := range map[string]struct {
		change func(*ward)
		want   []string
		remedy string // part of that of the first finding
	}{
		"the API server does not answer": {func(w *ward) {
			w.server = func(context.Context) (ServerAnswer, error) {
				return ServerAnswer{Address: "https://example.com"}, errors.New("connection refused")
			}
		}, []string{"connection: API server https://example.com: it does not answer: connection refused"}, "--kubeconfig"},
		"the credentials are not accepted": {func(w *ward) {
			w.server = func(context.Context) (ServerAnswer, error) {
				return ServerAnswer{Address: "https://example.com"}, apierrors.NewUnauthorized("expired")
			}
		}, []string{"connection: API server https://example.com: it does not accept who you are: expired"}, "renew the credentials"},
		"the certificate of the API server is not trusted": {func(w *ward) {
			w.server = func(context.Context) (ServerAnswer, error) {
				return ServerAnswer{Address: "https://example.com"}, errors.New("tls: x509: certificate signed by unknown authority")
			}
		}, []string{"connection: API server https://example.com: its certificate is not trusted: tls: x509: certificate signed by unknown authority"}, "certificate-authority-data"},
		"no manager": {func(w *ward) {
			w.drop("Deployment olm/"+managerName, "Lease olm/"+managerName, "CatalogSource olm/samples", "ClusterCatalog community")
		}, []string{"manager: cluster: no manager runs: there is no Deployment with the label app=fairlead-manager in any namespace, no Lease olm/fairlead-manager, and no object that a manager has worked on"}, "fairlead manager"},
		"no manager, and something waits": {func(w *ward) {
			w.drop("Deployment olm/"+managerName, "Lease olm/"+managerName)
			w.add(&v1alpha1.Subscription{ObjectMeta: named("ops", "greeter")})
		}, []string{"manager: Subscription ops/greeter: no manager runs: nothing has worked on it in 1m0s, there is no Deployment with the label app=fairlead-manager and no lease is held"}, "fairlead manager"},
		"a manager that is scaled to 0": {func(w *ward) {
			objectOf[*appsv1.Deployment](w, "Deployment olm/"+managerName).Spec.Replicas = new(int32(0))
		},
			[]string{"manager: Deployment olm/fairlead-manager: no manager runs: it is scaled to 0"}, "kubectl -n olm scale deployment fairlead-manager --replicas=2"},
		"a manager without pods": {func(w *ward) {
			d := objectOf[*appsv1.Deployment](w, "Deployment olm/"+managerName)
			d.Status = appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota"}}}
		}, []string{"manager: Deployment olm/fairlead-manager: no manager runs: 0 of 2 pods are available: exceeded quota"}, "kubectl -n olm describe pods"},
		"a manager that hangs": {func(w *ward) { w.add(leased("olm", managerName, "fairlead-manager-abc_1", 5*time.Minute, 0)) },
			[]string{"manager: Lease olm/fairlead-manager: no manager leads: fairlead-manager-abc renewed the lease 5m1s ago, and leaders do so every few seconds"}, "kubectl -n olm logs"},
		"rights of the manager are missing": {func(w *ward) {
			w.drop("ClusterRoleBinding fairlead-manager-v1") // which the v0 API does not need
			w.add(managerDeployment("olm", managerName, "--apis=v0"))
			role := objectOf[*rbacv1.ClusterRole](w, "ClusterRole fairlead-manager")
			for i := range role.Rules {
				if slices.Contains(role.Rules[i].Resources, "deployments") {
					role.Rules[i].Verbs = []string{"get", "list", "watch"}
				}
			}
		}, []string{"rights: ServiceAccount olm/fairlead-manager: the manager may not create, delete, patch, update deployments.apps"}, "config/rbac.yaml"},
		"rights that another authorizer gives": {func(w *ward) {
			w.drop("ClusterRoleBinding fairlead-manager-v1")
			w.allowed = func(s *authorizationv1.SubjectAccessReviewSpec) bool {
				return s.User == "system:serviceaccount:olm:fairlead-manager" && s.ResourceAttributes.Group == "*"
			}
		}, nil, ""},
		"another manager of v0": {func(w *ward) {
			w.add(&appsv1.Deployment{ObjectMeta: named("olm", "olm-operator")})
			stopped := &appsv1.Deployment{ObjectMeta: named("olm", "catalog-operator")}
			stopped.Spec.Replicas = new(int32(0))
			w.add(stopped)
		}, []string{"other managers: Deployment olm/olm-operator: another lifecycle manager works on the v0 API beside Fairlead's"}, "kubectl -n olm scale deployment olm-operator --replicas=0"},
		"another manager of v1": {func(w *ward) { w.add(leased("olmv1-system", "catalogd-operator-lock", "catalogd-1_2", time.Second, 0)) },
			[]string{"other managers: Lease olmv1-system/catalogd-operator-lock: another lifecycle manager, catalogd-1, works on the v1 API beside Fairlead's"}, "docs/migrating.md"},
		"another manager of an API that this one leaves alone": {func(w *ward) {
			w.add(managerDeployment("olm", managerName, "--apis=v0"), &appsv1.Deployment{ObjectMeta: named("olmv1-system", "operator-controller-controller-manager")})
		}, nil, ""},
		"a second manager of Fairlead": {func(w *ward) {
			w.add(managerDeployment("zeta", managerName, "--namespaces=a,b"), managerDeployment("yota", managerName, "--namespaces=c"),
				leased("zeta", managerName, "z_1", time.Second, 0), leased("yota", managerName, "y_1", time.Second, 0))
		}, []string{"other managers: Deployment yota/fairlead-manager: a second manager of Fairlead works on what Deployment olm/fairlead-manager works on",
			"other managers: Deployment zeta/fairlead-manager: a second manager of Fairlead works on what Deployment olm/fairlead-manager works on"}, "--replicas=0"},
		"an older definition": {func(w *ward) {
			d := objectOf[*apiextensionsv1.CustomResourceDefinition](w, "CustomResourceDefinition subscriptions.operators.coreos.com")
			status := d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
			delete(status.Properties, "conditions")
			delete(status.Properties, "observedGeneration")
		}, []string{"definitions: CustomResourceDefinition subscriptions.operators.coreos.com: it is older than that of this program: version v1alpha1 has no status.conditions, status.observedGeneration, which the API server drops from objects"}, "rollout restart deployment fairlead-manager"},
		"a version is missing": {func(w *ward) {
			objectOf[*apiextensionsv1.CustomResourceDefinition](w, "CustomResourceDefinition clusterextensions.olm.operatorframework.io").Spec.Versions[0].Name = "v1alpha1"
		}, []string{"definitions: CustomResourceDefinition clusterextensions.olm.operatorframework.io: it is older than that of this program: version v1 is not served"}, "fairlead manager"},
		"a definition is missing": {func(w *ward) { w.drop("CustomResourceDefinition installplans.operators.coreos.com") },
			[]string{"definitions: CustomResourceDefinition installplans.operators.coreos.com: it does not exist: objects of kind InstallPlan cannot be written"}, "fairlead manager"},
		"an admission policy is missing": {func(w *ward) { w.drop("ValidatingAdmissionPolicy " + permissions.ExtensionAccounts) },
			[]string{"admission policies: ValidatingAdmissionPolicy fairlead-extension-accounts: it does not exist; until it is in force the manager blocks what relies on it, or users may act with rights that are not theirs"}, "config/policies.yaml"},
		"the catalog namespace is missing": {func(w *ward) {
			w.add(managerDeployment("olm", managerName, "--global-namespace=catalogs"))
			w.objects["Deployment olm/"+managerName].(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Args[1] = ""
		},
			[]string{"catalog namespace: Namespace catalogs: it does not exist, and the catalogs that all namespaces see belong there"}, "kubectl create namespace catalogs"},
		"a registry does not answer": {func(w *ward) {
			objectOf[*v1alpha1.CatalogSource](w, "CatalogSource olm/samples").Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionFalse, Reason: "RegistryServerError", Message: "dial tcp: no such host"}}
			c := objectOf[*olmv1.ClusterCatalog](w, "ClusterCatalog community")
			c.Spec.Source.Image = &olmv1.ImageSource{Ref: "quay.example.com/c:1"}
			c.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: olmv1.ReasonRetrying, Message: "503"}}
		}, []string{"catalogs: CatalogSource olm/samples: its content cannot be read from registry.example.com/samples:latest: dial tcp: no such host",
			"catalogs: ClusterCatalog community: what is newer cannot be read from quay.example.com/c:1, and older content is served: 503"}, "fairlead catalog list"},
		"a webhook whose Service is gone": {func(w *ward) { w.add(webhook("ops", "gone", nil)) },
			[]string{"webhooks: " + hook + ": it cannot be reached: Service ops/gone does not exist" + refused}, "fairlead status -n ops shows the operator that serves it, and why it does not; where it is there no more: kubectl delete validatingwebhookconfiguration checks"},
		"a webhook without pods": {func(w *ward) {
			w.add(service("ops", "empty", false)...)
			w.add(webhook("ops", "empty", nil))
		}, []string{"webhooks: " + hook + ": it cannot be reached: Service ops/empty has no ready endpoint: none of 1 pod is ready" + refused}, "fairlead status -n ops"},
		"an APIService without a backend": {func(w *ward) {
			objectOf[*apiregistrationv1.APIService](w, "APIService v1.metrics.example.com").Spec.Service.Name = "gone"
		}, []string{"API services: APIService v1.metrics.example.com: it has no backend: Service ops/gone does not exist; nothing of API metrics.example.com/v1 can be read, and namespaces cannot be deleted meanwhile"}, "kubectl delete apiservice v1.metrics.example.com"},
		"an APIService that is not available": {func(w *ward) {
			a := objectOf[*apiregistrationv1.APIService](w, "APIService v1.metrics.example.com")
			a.Spec.Group, a.Status.Conditions = packagesGroup, []apiregistrationv1.APIServiceCondition{{Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionFalse, Reason: "FailedDiscoveryCheck", Message: "timeout"}}
		}, []string{"API services: APIService v1.metrics.example.com: it is not available: FailedDiscoveryCheck: timeout; nothing of API packages.operators.coreos.com/v1 can be read, and namespaces cannot be deleted meanwhile"}, "the manager serves it"},
		"a certificate has expired": {func(w *ward) {
			c := certified(w.t, "hook.ops.svc", 400*day, 365*day)
			w.add(certificateSecret("ops", "hook-cert", c), webhook("ops", "hook", c.CABundle), converted(c.CABundle), apiService(c.CABundle))
		}, []string{"certificates: Secret ops/hook-cert: the certificate for hook.ops.svc has expired at 2026-01-25T12:00:00Z"}, "renew it"},
		"a certificate expires soon": {func(w *ward) {
			c := certified(w.t, "hook.ops.svc", 360*day, 365*day)
			secret := certificateSecret("ops", "hook-cert", c)
			secret.Labels = map[string]string{"olm.managed": "true"}
			w.add(secret, webhook("ops", "hook", c.CABundle), converted(c.CABundle), apiService(c.CABundle))
		}, []string{"certificates: Secret ops/hook-cert: the certificate for hook.ops.svc expires soon, at 2026-03-06T12:00:00Z"}, "the manager renews it"},
		"a CA bundle of another certificate": {func(w *ward) { w.add(webhook("ops", "hook", certified(w.t, "hook.ops.svc", day, 365*day).CABundle)) },
			[]string{"certificates: " + hook + `: its caBundle does not verify the certificate of Secret ops/hook-cert: x509: certificate signed by unknown authority`}, "have its caBundle written again"},
		"a CA bundle that has expired": {func(w *ward) {
			w.drop("Secret ops/hook-cert")
			w.add(webhook("ops", "hook", certified(w.t, "hook.ops.svc", 400*day, 365*day).CABundle))
		}, []string{"certificates: " + hook + ": all certificates of its caBundle have expired, the last at 2026-01-25T12:00:00Z"}, "renew it"},
		"a CA bundle that is none": {func(w *ward) { w.add(webhook("ops", "hook", []byte("x"))) },
			[]string{"certificates: " + hook + ": its caBundle holds no certificate"}, "PEM"},
		"the certificate of the manager has expired": {func(w *ward) {
			w.add(certificateSecret("olm", ownServingSecret, certified(w.t, "fairlead-manager-metrics.olm.svc", 400*day, 365*day)))
		}, []string{"certificates: Secret olm/fairlead-manager-serving-cert: the certificate of the manager's metrics and catalogs has expired at 2026-01-25T12:00:00Z"}, "rollout restart deployment fairlead-manager"},
		"the clock of the leader is wrong": {func(w *ward) {
			w.add(leased("olm", managerName, "fairlead-manager-abc_1", 2*time.Second, -5*time.Minute))
		},
			[]string{"clocks: Lease olm/fairlead-manager: the clock of fairlead-manager-abc, which leads, is 5m0s behind that of the API server"}, "NTP"},
		"the clock of a node is wrong": {func(w *ward) { w.add(leased("kube-node-lease", "node-1", "node-1", 2*time.Second, 61*time.Second)) },
			[]string{"clocks: Node node-1: its clock is 1m0s ahead of that of the API server"}, "NTP"},
	} {
		t.Run(name, func(t *testing.T) {
			w := well(t)
			test.change(w)
			d := w.examine(0)
			must.Equal(t, "findings", d.found(), test.want)
			must.Equal(t, "number of findings", d.Findings, len(test.want))
			for _, c := range d.Checks {
				if len(c.Findings) > 0 && !strings.Contains(c.Findings[0].Remedy, test.remedy) {
					t.Errorf("the remedy has no %q: %s", test.remedy, c.Findings[0].Remedy)
				}
			}
		})
	}
}

// TestDoctorsClock: a clock of this machine that is wrong is found, and nothing else is judged by it.
func TestDoctorsClock(t *testing.T) {
	w := well(t)
	w.server = func(context.Context) (ServerAnswer, error) {
		return ServerAnswer{Version: "v1.36.0", Date: examined.Add(time.Hour)}, nil
	}
	w.add(leased("olm", managerName, "fairlead-manager-abc_1", 2*time.Second-time.Hour, 0), leased("kube-node-lease", "node-1", "node-1", -time.Hour, 0))
	must.Equal(t, "findings", w.examine(0).found(), []string{"clocks: this machine: its clock is 1h0m1s behind that of the API server"})
}

// TestDoctorWithoutRights: what the user may not read is a note in each check that needs it, and no fault.
func TestDoctorWithoutRights(t *testing.T) {
	w := well(t)
	w.list = func(context.Context, client.ObjectList) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "", errors.New("not you"))
	}
	d := w.examine(0)
	must.Equal(t, "findings", d.found(), nil)
	for _, c := range d.Checks {
		if (c.Result == CheckNote) != (c.Name != "connection") || c.Result == CheckNote && len(c.Notes) == 0 {
			t.Errorf("check %s: %+v", c.Name, c)
		}
	}
	var out bytes.Buffer
	must.NoError(t, d.Write(&out))
	for _, part := range []string{"· webhooks ", "note: you may not, in all namespaces: list subscriptions.operators.coreos.com, create subscriptions", "11 with notes only"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("there is no %q in:\n%s", part, out.String())
		}
	}
}

// TestDoctorIsBounded: a server that does not answer keeps no check longer than its limit, and each says so.
func TestDoctorIsBounded(t *testing.T) {
	w := well(t)
	w.list = func(ctx context.Context, _ client.ObjectList) error {
		<-ctx.Done()
		return ctx.Err()
	}
	begun := time.Now()
	d := w.examine(20 * time.Millisecond)
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	if len(d.found()) < 8 || !strings.Contains(d.found()[0], "manager: Deployments: not read in time") {
		t.Errorf("findings: %q", d.found())
	}
}
