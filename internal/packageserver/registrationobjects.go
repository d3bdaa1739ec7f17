package packageserver

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"slices"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/internal/rollout"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Names of what is kept in the cluster.
const (
	// ServiceName is that of the Service, and of the Secret with its certificate but for the suffix.
	ServiceName = "fairlead-packageserver"
	secretName  = ServiceName + "-cert"
	// APIServiceName is the one name that the API allows.
	APIServiceName = "v1." + packagesv1.GroupName
	viewRoleName   = "fairlead-packagemanifests-view"

	servicePort = 443
	portName    = "https"
	// reachedAt is the annotation of an EndpointSlice with the address at which other processes ask whether that one serves.
	reachedAt = "packages.fairlead.dev/reached-at"
	// sliceManager marks the EndpointSlices that no controller of Kubernetes is to touch.
	sliceManager = "fairlead.dev"
)

// Priorities of the group among others, as others have had them since there are PackageManifests.
const (
	groupPriority   = 2000
	versionPriority = 15
)

// hosts are the names by which the API server calls the Service; the first is the one that it uses.
func (o RegistrationOptions) hosts() []string {
	short := ServiceName + "." + o.Namespace + ".svc"
	return []string{short, short + ".cluster.local"}
}

// phases are what is kept, in the order in which it is needed.
func (o RegistrationOptions) phases(authorities []byte) []rollout.Phase {
	return []rollout.Phase{
		o.namespace(),
		{Name: "service", Objects: []rollout.Object{{Wanted: o.service(), Owner: owner}, {Wanted: o.slice(), Owner: owner}, {Wanted: viewRole(), Owner: owner}}},
		{Name: "api", Objects: []rollout.Object{{Wanted: o.apiService(authorities), Owner: owner, Claim: o.claim}}},
	}
}

// namespace is only created: it may be anyone's.
func (o RegistrationOptions) namespace() rollout.Phase {
	return rollout.Phase{Name: "namespace", Objects: []rollout.Object{{Wanted: object("v1", "Namespace", "", o.Namespace, nil), Policy: rollout.CreateOnly}}}
}

// owner is who wants the objects, for people.
const owner = "the package server"

func object(apiVersion, kind, namespace, name string, content map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	for key, value := range content {
		u.Object[key] = value
	}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// service selects nothing: its EndpointSlices are written by those who serve.
func (o RegistrationOptions) service() *unstructured.Unstructured {
	return object("v1", "Service", o.Namespace, ServiceName, map[string]any{"spec": map[string]any{
		"type":  string(corev1.ServiceTypeClusterIP),
		"ports": []any{map[string]any{"name": portName, "protocol": "TCP", "port": int64(servicePort)}}, // processes may listen on different ports
	}})
}

// slice leads to this process. Each process has its own, so that several can serve at a time.
func (o RegistrationOptions) slice() *unstructured.Unstructured {
	family, reached := discoveryv1.AddressTypeIPv6, o.Address
	if o.Address.Addr().Is4() {
		family = discoveryv1.AddressTypeIPv4
	}
	if o.Reached.IsValid() {
		reached = o.Reached
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(o.Address.String())) // a hash never fails
	slice := object("discovery.k8s.io/v1", "EndpointSlice", o.Namespace, ServiceName+"-"+hex.EncodeToString(sum.Sum(nil)), map[string]any{
		"addressType": string(family),
		"endpoints":   []any{map[string]any{"addresses": []any{o.Address.Addr().String()}, "conditions": map[string]any{"ready": true}}},
		"ports":       []any{map[string]any{"name": portName, "protocol": "TCP", "port": int64(o.Address.Port())}},
	})
	slice.SetLabels(map[string]string{discoveryv1.LabelServiceName: ServiceName, discoveryv1.LabelManagedBy: sliceManager})
	slice.SetAnnotations(map[string]string{reachedAt: reached.String()})
	if o.Pod.Name != "" {
		// It goes with the pod, however that ends.
		slice.Object["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{
			"apiVersion": "v1", "kind": "Pod", "name": o.Pod.Name, "uid": string(o.Pod.UID)}}
	}
	return slice
}

func (o RegistrationOptions) apiService(authorities []byte) *unstructured.Unstructured {
	return object("apiregistration.k8s.io/v1", "APIService", "", APIServiceName, map[string]any{"spec": map[string]any{
		"group": packagesv1.GroupName, "version": packagesv1.GroupVersion.Version,
		"groupPriorityMinimum": int64(groupPriority), "versionPriority": int64(versionPriority),
		"caBundle": base64.StdEncoding.EncodeToString(authorities),
		"service":  map[string]any{"namespace": o.Namespace, "name": ServiceName, "port": int64(servicePort)},
	}})
}

// viewRole lets those who may read a namespace read packages in it.
func viewRole() *unstructured.Unstructured {
	role := object("rbac.authorization.k8s.io/v1", "ClusterRole", "", viewRoleName, map[string]any{"rules": []any{map[string]any{
		"apiGroups": []any{packagesv1.GroupName},
		"resources": []any{"packagemanifests", "packagemanifests/icon"},
		"verbs":     []any{"get", "list", "watch"},
	}}})
	role.SetLabels(map[string]string{
		"rbac.authorization.k8s.io/aggregate-to-admin": "true",
		"rbac.authorization.k8s.io/aggregate-to-edit":  "true",
		"rbac.authorization.k8s.io/aggregate-to-view":  "true",
	})
	return role
}

// claim leaves an APIService alone that leads to another server as long as that one answers.
func (o RegistrationOptions) claim(live *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	available := slices.ContainsFunc(conditions, func(c any) bool {
		condition, _ := c.(map[string]any)
		return condition["type"] == "Available" && condition["status"] == "True"
	})
	if o.leadsHere(live) || !available {
		return ""
	}
	namespace, _, _ := unstructured.NestedString(live.Object, "spec", "service", "namespace")
	name, _, _ := unstructured.NestedString(live.Object, "spec", "service", "name")
	return "leads to Service " + namespace + "/" + name + ", which serves packages; " +
		"stop that server and it is adopted, or switch this one off"
}

func (o RegistrationOptions) leadsHere(apiService *unstructured.Unstructured) bool {
	namespace, _, _ := unstructured.NestedString(apiService.Object, "spec", "service", "namespace")
	name, _, _ := unstructured.NestedString(apiService.Object, "spec", "service", "name")
	return namespace == o.Namespace && name == ServiceName
}

// watch tells when one of the objects was changed by anyone. Only these few are watched, and only their metadata kept, which can be read.
func (r *Registration) watch(ctx context.Context) (<-chan struct{}, client.Reader, error) {
	changed := make(chan struct{}, 1)
	tell := func() {
		select {
		case changed <- struct{}{}:
		default: // it is told already
		}
	}
	// The objects by their names.
	o := r.options
	kind := func(gv schema.GroupVersion, kind string) *metav1.PartialObjectMetadata {
		m := &metav1.PartialObjectMetadata{}
		m.SetGroupVersionKind(gv.WithKind(kind))
		return m
	}
	named := func(name string) cache.ByObject {
		return cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", name)}
	}
	here := func(b cache.ByObject) cache.ByObject {
		b.Namespaces = map[string]cache.Config{o.Namespace: {}}
		return b
	}
	watched := map[client.Object]cache.ByObject{
		kind(corev1.SchemeGroupVersion, "Secret"):                here(named(secretName)),
		kind(corev1.SchemeGroupVersion, "Service"):               here(named(ServiceName)),
		kind(discoveryv1.SchemeGroupVersion, "EndpointSlice"):    here(cache.ByObject{Label: labels.SelectorFromSet(ourSlices)}),
		kind(rbacv1.SchemeGroupVersion, "ClusterRole"):           named(viewRoleName),
		kind(corev1.SchemeGroupVersion, "Namespace"):             named(cmp.Or(o.Home, o.Namespace)),
		kind(apiregistrationv1.SchemeGroupVersion, "APIService"): named(APIServiceName),
	}
	c, err := cache.New(r.options.REST, cache.Options{ByObject: watched, DefaultTransform: cache.TransformStripManagedFields()})
	if err != nil {
		return nil, nil, fmt.Errorf("watch the registration of the package server: %w", err)
	}
	for object := range watched {
		informer, err := c.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return nil, nil, fmt.Errorf("watch the registration of the package server: %w", err)
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { tell() }, UpdateFunc: func(any, any) { tell() }, DeleteFunc: func(any) { tell() },
		}); err != nil {
			return nil, nil, fmt.Errorf("watch the registration of the package server: %w", err)
		}
	}
	go func() {
		if err := c.Start(ctx); err != nil {
			r.log.Error(err, "changes of the registration of the package server are not noticed before the next start")
		}
	}()
	return changed, c, nil
}

// ourSlices selects the EndpointSlices of the Service that processes like this one have written.
var ourSlices = map[string]string{discoveryv1.LabelServiceName: ServiceName, discoveryv1.LabelManagedBy: sliceManager}
