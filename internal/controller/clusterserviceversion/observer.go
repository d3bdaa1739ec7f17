package clusterserviceversion

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/serving"
)

// observer reads what a pass has to know of the cluster: from caches, and past them what is not cached or must not be stale. It returns values, and
// neither decides nor writes.
type observer struct {
	cache  client.Client // for reading alone
	live   client.Reader
	mapper meta.RESTMapper
	server serverVersion
	clock  clock.PassiveClock
	issued *serving.Issues
	// namespaces are those that the caches cover; none is all.
	namespaces []string
	// dial reaches the servers of operators; nil where the manager cannot. unreached is how often they were asked in vain, by the name of the CSV.
	dial      Dial
	unreached *sync.Map
	csv       *v1alpha1.ClusterServiceVersion
	once      once
}

// read reads an object; nil when it does not exist.
func read[P interface {
	*T
	client.Object
}, T any](ctx context.Context, from client.Reader, name types.NamespacedName, options ...client.GetOption) (P, error) {
	object := P(new(T))
	err := from.Get(ctx, name, object, options...)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kindOf(object), strings.TrimPrefix(name.String(), "/"), err)
	}
	return object, nil
}

// list reads objects, which belong to the cache. What they are is for the message.
func list(ctx context.Context, from client.Reader, into client.ObjectList, what string, options ...client.ListOption) error {
	if err := from.List(ctx, into, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return fmt.Errorf("list %s: %w", what, err)
	}
	return nil
}

// name is the CSV for messages.
func (o *observer) name() string { return client.ObjectKeyFromObject(o.csv).String() }

// of is an observer for another CSV.
func (o *observer) of(csv *v1alpha1.ClusterServiceVersion) *observer {
	other := *o
	other.csv = csv
	return &other
}

// readerFor reads from the cache where it covers the namespace, else from the cluster.
func (o *observer) readerFor(namespace string) client.Reader {
	if namespace == "" || len(o.namespaces) == 0 || slices.Contains(o.namespaces, namespace) {
		return o.cache
	}
	return o.live
}

// likeThis reads the live object of the kind and name of another one; nil when there is none.
func (o *observer) likeThis(ctx context.Context, object client.Object) (client.Object, error) {
	live := emptyLike(object)
	err := o.readerFor(object.GetNamespace()).Get(ctx, client.ObjectKeyFromObject(object), live, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", describeObject(object), err)
	}
	return live, nil
}

// namespace reports whether a namespace exists, and whether it is being deleted: nothing can be made in it any more.
func (o *observer) namespace(ctx context.Context, name string) (exists, going bool, _ error) {
	namespace, err := o.metadata(ctx, corev1.SchemeGroupVersion.WithKind("Namespace"), key("", name))
	return namespace != nil, namespace != nil && !namespace.DeletionTimestamp.IsZero(), err
}

// metadata reads the metadata of an object; nil when it does not exist.
func (o *observer) metadata(ctx context.Context, kind schema.GroupVersionKind, name types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kind)
	err := o.cache.Get(ctx, name, object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind.Kind, strings.TrimPrefix(name.String(), "/"), err)
	}
	return object, nil
}

// serves reports whether the cluster serves a kind. It does not as long as the server of its group does not answer.
func (o *observer) serves(gvk schema.GroupVersionKind) (bool, error) {
	_, err := o.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) || discovery.IsGroupDiscoveryFailedError(err) || apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look up %s in the APIs of the cluster: %w", gvk, err)
	}
	return true, nil
}

// providers lists the CSVs of all namespaces that own or need a CRD.
func (o *observer) providers(ctx context.Context, crd string) ([]v1alpha1.ClusterServiceVersion, error) {
	var all v1alpha1.ClusterServiceVersionList
	err := list(ctx, o.cache, &all, "the ClusterServiceVersions with CRD "+crd, client.MatchingFields{indexByAPI: crdKey + crd})
	return all.Items, err
}

// drift compares desired objects with the live ones, and lists those that an apply would change.
func (o *observer) drift(ctx context.Context, desired []client.Object) ([]change, error) {
	var out []change
	for _, object := range desired {
		live, err := o.likeThis(ctx, object)
		if err != nil {
			return nil, err
		}
		if live == nil {
			absent := true
			switch object.(type) {
			case *appsv1.Deployment, *corev1.Service, *corev1.Secret:
				absent = false // the cache holds only those that have the label of what is managed
			}
			out = append(out, change{apply: object, unseen: true, absent: absent})
			continue
		}
		drifted, err := isDrifted(object, live)
		if err != nil {
			return nil, err
		}
		if drifted {
			is, _ := ownerOf(live)
			should, _ := ownerOf(object)
			out = append(out, change{apply: object, unseen: live.GetLabels()[v1alpha1.ManagedLabel] != v1alpha1.ManagedLabelValue || is != should})
		}
	}
	return out, nil
}

// isDrifted reports whether an apply would change a live object. Fields that other clients have added make no difference.
func isDrifted(desired, live client.Object) (bool, error) {
	want, err := rollout.Render(desired)
	if err != nil {
		return false, err
	}
	have, err := rollout.Render(live)
	if err != nil {
		return false, err
	}
	// The other implementation computes another hash of the same pod template. Where only that differs, there is nothing to write.
	labels, hash := want.GetLabels(), have.GetLabels()[v1alpha1.DeploymentSpecHashLabel]
	if labels[v1alpha1.DeploymentSpecHashLabel] != "" && hash != "" && have.GetAnnotations()[rollout.ContentAnnotation] == "" {
		labels[v1alpha1.DeploymentSpecHashLabel] = hash
		want.SetLabels(labels)
	}
	return rollout.Drifted(want, have, string(fieldManager)), nil
}

// kindOf is the kind of an object for messages.
func kindOf(object client.Object) string { return reflect.TypeOf(object).Elem().Name() }

// describeObject is the kind and the name of an object for messages.
func describeObject(object client.Object) string {
	return kindOf(object) + " " + client.ObjectKeyFromObject(object).String()
}

// emptyLike is a new object of the same type.
func emptyLike(object client.Object) client.Object {
	return reflect.New(reflect.TypeOf(object).Elem()).Interface().(client.Object)
}

// key is the name of an object with its namespace.
func key(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// ownerOf reads the owner labels of an object, if they name a ClusterServiceVersion.
func ownerOf(object metav1.Object) (types.NamespacedName, bool) {
	labels := object.GetLabels()
	owner := key(labels[v1alpha1.OwnerNamespaceLabel], labels[v1alpha1.OwnerLabel])
	return owner, labels[v1alpha1.OwnerKindLabel] == v1alpha1.ClusterServiceVersionKind && owner.Name != "" && owner.Namespace != ""
}

// ownedBy reports whether the owner labels of an object name the CSV.
func ownedBy(object metav1.Object, csv *v1alpha1.ClusterServiceVersion) bool {
	owner, ok := ownerOf(object)
	return ok && owner == key(csv.Namespace, csv.Name)
}

// hasOwner reports whether an object has an owner reference with the UID.
func hasOwner(object metav1.Object, uid types.UID) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == uid })
}

// isAdopted reports whether another controller than a ClusterServiceVersion has an object.
func isAdopted(object metav1.Object) bool {
	controller := metav1.GetControllerOfNoCopy(object)
	return controller != nil && controller.Kind != v1alpha1.ClusterServiceVersionKind
}
