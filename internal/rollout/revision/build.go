package revision

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"maps"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Annotations of this project on a ClusterObjectSet.
const (
	// DigestKey holds the digest of the objects of a revision that Build made: as long as that is the same, nothing else has to be compared.
	DigestKey = "operators.fairlead.dev/content-digest"
	// ServiceAccountKey holds the service account that the objects are written as, as namespace/name. Without it the manager writes them
	// as itself.
	ServiceAccountKey = "operators.fairlead.dev/service-account"
)

// Extension is the ClusterExtension that a revision belongs to.
type Extension struct {
	Name string
	UID  types.UID
	// Namespace is where its namespaced objects go, and where its service account is.
	Namespace string
}

// Options say what a revision consists of.
type Options struct {
	Extension Extension
	// Number is 1 for the first revision of an extension, and one more for each that follows.
	Number int64
	// SystemNamespace holds the Secrets with the objects.
	SystemNamespace string
	// Objects are what is to be in the cluster, in any order. They are not changed.
	Objects []*unstructured.Unstructured
	// Annotations and Labels are those of the ClusterObjectSet. The version of the bundle and the name of the package are put on the
	// objects as well.
	Annotations, Labels map[string]string
	// ProgressDeadlineMinutes is how long the rollout may take; 0 is for ever.
	ProgressDeadlineMinutes int32
	// CollisionProtection says what happens to objects that are there already; empty is Prevent.
	CollisionProtection olmv1.CollisionProtection
	// Adopted are those of the objects that may be there already, as long as no one controls them, whatever holds for the others.
	Adopted []*unstructured.Unstructured
	// ServiceAccount of the extension's namespace writes the objects; empty is the manager.
	ServiceAccount string
}

// Revision is a ClusterObjectSet and the Secrets that hold its objects.
type Revision struct {
	Set     *olmv1.ClusterObjectSet
	Secrets []*corev1.Secret
}

// maxExtensionName is how long the name of an extension can be: a hyphen and a number follow it in names of revisions, and another hyphen and
// hash in those of Secrets.
const maxExtensionName = validation.DNS1123SubdomainMaxLength - len("-9223372036854775807") - 1 - secretHash

// Name is the name of a revision of an extension.
func Name(extension string, number int64) string { return fmt.Sprintf("%s-%d", extension, number) }

// Build makes a revision of objects: it leaves out what only a live object has, labels the objects, sorts them into phases and packs them.
// The same options always make the same revision.
func Build(o Options) (*Revision, error) {
	name := Name(o.Extension.Name, o.Number)
	if err := o.check(name); err != nil {
		return nil, err
	}
	if o.CollisionProtection == "" {
		o.CollisionProtection = olmv1.CollisionProtectionPrevent
	}
	// Return copies of the objects as they are kept: without what only live objects have, and with the labels and annotations by which
	// they are found.
	objects := make([]*unstructured.Unstructured, len(o.Objects))
	var all []error
	seen := map[identity]bool{}
	for i, u := range o.Objects {
		objects[i] = o.stamp(u)
		if err := wellFormed(objects[i]); err != nil {
			all = append(all, err)
			continue
		}
		if id := identityOf(u); seen[id] {
			all = append(all, fmt.Errorf("%s is there twice", id))
		} else {
			seen[id] = true
		}
	}
	err := errors.Join(all...)
	if err != nil {
		return nil, fmt.Errorf("build revision %s: %w", name, err)
	}
	groups, err := divide(objects)
	if err != nil {
		return nil, fmt.Errorf("build revision %s: %w", name, err)
	}
	adopted := map[identity]bool{}
	for _, u := range o.Adopted {
		adopted[identityOf(u)] = true
	}
	phases, secrets, err := o.pack(name, groups, adopted)
	if err != nil {
		return nil, fmt.Errorf("build revision %s: %w", name, err)
	}
	set := o.set(name, phases)
	// Independent of how the objects are packed.
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", o.CollisionProtection)
	for _, g := range groups {
		fmt.Fprintf(sum, "%s\n", g.name)
		for _, u := range g.objects {
			encodeTo(sum, u.Object)
			if adopted[identityOf(u)] {
				fmt.Fprintf(sum, "%s\n", olmv1.CollisionProtectionIfNoController)
			}
		}
	}
	set.Annotations[DigestKey] = digestAlgorithm + hex.EncodeToString(sum.Sum(nil))
	return &Revision{Set: set, Secrets: secrets}, nil
}

func (o *Options) check(name string) error {
	var all []error
	if o.Number < 1 {
		all = append(all, fmt.Errorf("its number is %d; revisions count from 1", o.Number))
	}
	if o.SystemNamespace == "" {
		all = append(all, errors.New("the namespace for its Secrets is not given"))
	}
	if o.ServiceAccount != "" && o.Extension.Namespace == "" {
		all = append(all, fmt.Errorf("the namespace of its service account %s is not given", o.ServiceAccount))
	}
	if len(o.Extension.Name) > maxExtensionName {
		all = append(all, fmt.Errorf("the name of the ClusterExtension has %d characters, and can have %d, because its revisions and their Secrets are named after it; "+
			"make one with a shorter name in its place", len(o.Extension.Name), maxExtensionName))
	}
	if len(all) > 0 {
		return fmt.Errorf("build revision %s: %w", name, errors.Join(all...))
	}
	return nil
}

// set is the ClusterObjectSet but for its digest.
func (o *Options) set(name string, phases []olmv1.ClusterObjectSetPhase) *olmv1.ClusterObjectSet {
	set := &olmv1.ClusterObjectSet{
		TypeMeta: metav1.TypeMeta{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterObjectSetKind},
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Labels:      o.ownerLabels(),
			Annotations: map[string]string{},
		},
		Spec: olmv1.ClusterObjectSetSpec{
			LifecycleState:          olmv1.LifecycleStateActive,
			Revision:                o.Number,
			Phases:                  phases,
			CollisionProtection:     o.CollisionProtection,
			ProgressDeadlineMinutes: o.ProgressDeadlineMinutes,
		},
	}
	maps.Copy(set.Labels, o.Labels)
	maps.Copy(set.Annotations, o.Annotations)
	if o.ServiceAccount != "" {
		set.Annotations[ServiceAccountKey] = o.Extension.Namespace + "/" + o.ServiceAccount
	}
	if o.Extension.UID != "" { // a revision that is only shown has no extension yet
		set.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: o.Extension.Name, UID: o.Extension.UID,
			Controller: new(true), BlockOwnerDeletion: new(true),
		}}
	}
	return set
}

func (o *Options) ownerLabels() map[string]string {
	return map[string]string{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind, olmv1.OwnerNameKey: olmv1.LabelValue(o.Extension.Name)}
}

const digestAlgorithm = "sha256:"

// PhaseDigest is what a ClusterObjectSet remembers of a phase: of its name and its objects, as they are kept.
func PhaseDigest(p Phase) string {
	objects := make([]map[string]any, len(p.Objects))
	for i, o := range p.Objects {
		objects[i] = o.Object
	}
	sum := sha256.New()
	encodeTo(sum, map[string]any{"name": p.Name, "objects": objects})
	return digestAlgorithm + hex.EncodeToString(sum.Sum(nil))
}

// encodeTo writes JSON with its keys in order.
func encodeTo(sum hash.Hash, content map[string]any) {
	text, err := json.Marshal(content)
	if err != nil {
		panic("objects that were read as JSON always encode: " + err.Error())
	}
	sum.Write(text)
}
