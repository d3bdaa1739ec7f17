package migrate

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Limits of a backup, in bytes: what a Secret holds, and what it may come to.
const (
	maxPacked   = 900 << 10
	maxUnpacked = 32 << 20
)

// Backup is what the cluster had before anything was changed: enough to go on from wherever a migration was cut short, and to go back.
type Backup struct {
	CSV          CSV                        `json:"csv"`
	Subscription *unstructured.Unstructured `json:"subscription"`
	// Version is the ClusterServiceVersion.
	Version *unstructured.Unstructured `json:"clusterServiceVersion"`
	// Plans are the InstallPlans of the Subscription alone.
	Plans []*unstructured.Unstructured `json:"installPlans,omitempty"`
	// Adopted are the objects that are adopted, as they were; of those that run nothing, only their metadata.
	Adopted []*unstructured.Unstructured `json:"adopted"`
	// Removed are those that go, as they were.
	Removed []*unstructured.Unstructured `json:"removed,omitempty"`
	// Left are those that stay and belong to no one: their metadata.
	Left []*unstructured.Unstructured `json:"left,omitempty"`
	// Added are those that the extension has besides.
	Added []Ref `json:"added,omitempty"`
	// Extension is what is made.
	Extension *olmv1.ClusterExtension `json:"clusterExtension"`

	// Kept is not of the backup itself.
	Kept Kept `json:"-"`
}

// Ref names an object.
type Ref struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// RefOf names an object.
func RefOf(o interface {
	metav1.Object
	runtime.Object
}) Ref {
	version, kind := o.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	return Ref{version, kind, o.GetNamespace(), o.GetName()}
}

// Object is an empty object of the name.
func (r Ref) Object() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(r.APIVersion)
	u.SetKind(r.Kind)
	u.SetNamespace(r.Namespace)
	u.SetName(r.Name)
	return u
}

// String is the kind and the name.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Pack is a backup as it is kept.
func (b *Backup) Pack() ([]byte, error) {
	text, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("write the backup as JSON: %w", err)
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("compress the backup: %w", err)
	}
	if out.Len() > maxPacked {
		return nil, fmt.Errorf("the backup has %d bytes when it is compressed, and a Secret holds %d: delete InstallPlans that are not needed, and retry", out.Len(), maxPacked)
	}
	return out.Bytes(), nil
}

// Unpack reads what Pack wrote, within limits.
func Unpack(data []byte) (*Backup, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("decompress the backup: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	if err != nil {
		return nil, fmt.Errorf("decompress the backup: %w", err)
	}
	if len(text) > maxUnpacked {
		return nil, fmt.Errorf("the backup has more than %d bytes when it is decompressed", maxUnpacked)
	}
	b := &Backup{}
	if err := json.Unmarshal(text, b); err != nil {
		return nil, fmt.Errorf("read the backup: %w", err)
	}
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("read the backup: %w", err)
	}
	return b, nil
}

// Keep is an object as the backup has it: whole where it goes or runs pods, else its metadata, since nothing else of it changes.
func Keep(u *unstructured.Unstructured, whole bool) *unstructured.Unstructured {
	out := u.DeepCopy()
	out.SetManagedFields(nil)
	if whole {
		return out
	}
	for field := range out.Object {
		if field != "apiVersion" && field != "kind" && field != "metadata" {
			delete(out.Object, field)
		}
	}
	// It has the content as well, that of Secrets included.
	unstructured.RemoveNestedField(out.Object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
	return out
}

// Meta is the metadata of an object.
func Meta(u *unstructured.Unstructured) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: u.GetNamespace(), Name: u.GetName(), Labels: u.GetLabels(), Annotations: u.GetAnnotations(), OwnerReferences: u.GetOwnerReferences()}
}

// New is an object as it is created again: without what the API server gave it, and without references, since those they name may be
// others by now.
func New(u *unstructured.Unstructured) *unstructured.Unstructured {
	out := u.DeepCopy()
	for _, field := range []string{"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "finalizers", "generation", "managedFields", "ownerReferences", "resourceVersion", "selfLink", "uid"} {
		unstructured.RemoveNestedField(out.Object, "metadata", field)
	}
	delete(out.Object, "status")
	return out
}

// Hold is the finalizer that keeps a ClusterServiceVersion in sight, as one that is being deleted, until its Subscription is gone. The one who
// deletes the namespace meanwhile does not wait for it.
const Hold = "operators.fairlead.dev/migration"

// Kept is where a backup is kept, and what was noted there since.
type Kept struct {
	// Mark says which Secret it is, and what it holds. The ClusterExtension has it, too, so that no other Secret can take its place.
	Mark string
	// Extension is the UID of the ClusterExtension, once that was made.
	Extension types.UID
	// Added are the UIDs of what the extension has besides, in the order of Backup.Added; empty for what it does not have.
	Added []types.UID
	// Returned is the UID of the Subscription that has its operator back.
	Returned types.UID
}

// check refuses a backup that no migration can have written: the one who goes back creates what it says.
func (b *Backup) check() error {
	ours := func(u *unstructured.Unstructured, kind string) bool {
		return u != nil && u.GroupVersionKind().Group == v1alpha1.GroupName && u.GetKind() == kind && u.GetNamespace() == b.CSV.Namespace && u.GetName() != ""
	}
	switch {
	case !ours(b.Subscription, v1alpha1.SubscriptionKind), !ours(b.Version, v1alpha1.ClusterServiceVersionKind), b.Extension == nil:
		return fmt.Errorf("it lacks the Subscription, the ClusterServiceVersion or the ClusterExtension")
	case b.Version.GetName() != b.CSV.Name:
		return fmt.Errorf("it is about ClusterServiceVersion %s, and has %s", b.CSV, RefOf(b.Version))
	case b.Extension.Name == "" || b.Extension.Spec.Namespace != b.CSV.Namespace || b.Extension.Annotations[AdoptsKey] != b.CSV.String() || b.Extension.Spec.Source.SourceType != olmv1.SourceTypeCatalog:
		return fmt.Errorf("its ClusterExtension %s does not take ClusterServiceVersion %s over", b.Extension.Name, b.CSV)
	}
	for _, u := range b.Plans {
		if !ours(u, v1alpha1.InstallPlanKind) {
			return fmt.Errorf("it has %s as an InstallPlan", RefOf(u))
		}
	}
	for _, u := range b.Removed {
		// Only roles and bindings of the very ClusterServiceVersion may come back, and the Operator, which the manager makes again.
		gvk := u.GroupVersionKind()
		switch {
		case gvk.GroupKind().String() == "Operator."+v1alpha1.GroupName:
		case gvk.Group != rbacv1.GroupName || !slices.Contains(roleKinds, gvk.Kind):
			return fmt.Errorf("it has %s to make again, and only roles and bindings are made again", RefOf(u))
		case !(Owner{CSV: b.CSV}).labelled(u):
			return fmt.Errorf("it has %s to make again, which does not have the labels of ClusterServiceVersion %s", RefOf(u), b.CSV)
		}
	}
	return nil
}
