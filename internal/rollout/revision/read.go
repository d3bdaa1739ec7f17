package revision

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json" // reads whole numbers as such
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
)

// Limits of what is read back.
const (
	maxObjectSize = 10 << 20 // of an object, decompressed
	maxTotalSize  = 32 << 20 // of the objects that one Loader reads, decompressed
)

// Phase is the content of a phase.
type Phase struct {
	Name    string
	Objects []Object
}

// Object is an object of a revision, as it is kept, and the protection of those that are there already.
type Object struct {
	*unstructured.Unstructured
	Protection olmv1.CollisionProtection
}

// BlockedError says that a revision is not what it was: nothing that the manager does changes that.
type BlockedError struct{ Message string }

// Error is the message.
func (e *BlockedError) Error() string { return e.Message }

// Objects reads back all objects of a revision, in the order of its phases. The Secrets have to name their namespace, as those of Build do.
func Objects(ctx context.Context, reader client.Reader, set *olmv1.ClusterObjectSet) ([]*unstructured.Unstructured, error) {
	l := NewLoader(reader, set, "")
	var all []*unstructured.Unstructured
	for i := range set.Spec.Phases {
		p, err := l.Phase(ctx, i)
		if err != nil {
			return nil, err
		}
		for _, o := range p.Objects {
			all = append(all, o.Unstructured)
		}
	}
	return all, nil
}

// Loader reads the phases of one revision. It reads each Secret once, and is to be dropped after use.
type Loader struct {
	reader    client.Reader
	set       *olmv1.ClusterObjectSet
	namespace string
	secrets   map[types.NamespacedName]*corev1.Secret
	size      int

	// Memory is asked before a Secret is read, and Current for the version that the Secret has now: of one that is not known, nothing is remembered.
	// Both are set together; nil remembers nothing.
	Memory  *Memory
	Current func(types.NamespacedName) (version string, known bool)
	// Versions are those of the Secrets that were read.
	Versions map[types.NamespacedName]string
}

// NewLoader returns a Loader. The namespace is that of Secrets without one.
func NewLoader(reader client.Reader, set *olmv1.ClusterObjectSet, namespace string) *Loader {
	return &Loader{reader: reader, set: set, namespace: namespace, secrets: map[types.NamespacedName]*corev1.Secret{}, Versions: map[types.NamespacedName]string{}}
}

// Phase reads a phase by its index.
func (l *Loader) Phase(ctx context.Context, i int) (Phase, error) {
	spec := &l.set.Spec.Phases[i]
	p := Phase{Name: spec.Name}
	for j := range spec.Objects {
		o := &spec.Objects[j]
		u, err := l.object(ctx, o)
		if err != nil {
			return Phase{}, fmt.Errorf("read object %d of phase %s of revision %s: %w", j, spec.Name, l.set.Name, err)
		}
		protection := cmp.Or(o.CollisionProtection, spec.CollisionProtection, l.set.Spec.CollisionProtection, olmv1.CollisionProtectionPrevent)
		p.Objects = append(p.Objects, Object{Unstructured: u, Protection: protection})
	}
	return p, nil
}

func (l *Loader) object(ctx context.Context, o *olmv1.ClusterObjectSetObject) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	switch {
	case o.Object != nil:
		u = o.Object.DeepCopy()
	case o.Ref == nil:
		return nil, &UnreadableError{errors.New("neither object nor ref is set")}
	default:
		data, err := l.data(ctx, *o.Ref)
		if err != nil {
			return nil, err
		}
		if data, err = unpack(data); err != nil {
			return nil, &UnreadableError{fmt.Errorf("key %s of Secret %s: %w", o.Ref.Key, o.Ref.Name, err)}
		}
		if l.size += len(data); l.size > maxTotalSize {
			return nil, &UnreadableError{fmt.Errorf("the objects have more than %d bytes together", maxTotalSize)}
		}
		if err := json.Unmarshal(data, &u.Object); err != nil {
			return nil, &UnreadableError{fmt.Errorf("key %s of Secret %s is no JSON object: %w", o.Ref.Key, o.Ref.Name, err)}
		}
	}
	if err := wellFormed(u); err != nil {
		return nil, &UnreadableError{err}
	}
	return u, nil
}

// data is what a key of a Secret holds. The Secret has to be immutable: otherwise the revision could change.
func (l *Loader) data(ctx context.Context, ref olmv1.ObjectSourceRef) ([]byte, error) {
	name := types.NamespacedName{Namespace: cmp.Or(ref.Namespace, l.namespace), Name: ref.Name}
	at := place{l.set.UID, name, ref.Key}
	if l.Memory != nil && l.secrets[name] == nil {
		if version, known := l.Current(name); known && version != "" {
			if data, ok := l.Memory.get(at, version); ok {
				l.Versions[name] = version
				return data, nil
			}
		}
	}
	secret := l.secrets[name]
	if secret == nil {
		var err error
		if secret, err = readSecret(ctx, l.reader, name); err != nil {
			return nil, &secretError{fmt.Errorf("read Secret %s: %w", name, err), name}
		}
		if secret.Immutable == nil || !*secret.Immutable {
			return nil, &BlockedError{fmt.Sprintf("the following secrets are not immutable (referenced secrets must have immutable set to true): %s", name)}
		}
		l.secrets[name], l.Versions[name] = secret, secret.ResourceVersion
	}
	data, ok := secret.Data[ref.Key]
	if !ok {
		return nil, &UnreadableError{fmt.Errorf("read an object of the revision: Secret %s has no key %s", name, ref.Key)}
	}
	if secret.Labels[olmv1.RevisionNameKey] == olmv1.LabelValue(l.set.Name) && len(ref.Key) == len(keyOf(nil)) && ref.Key != keyOf(data) {
		return nil, &BlockedError{fmt.Sprintf("key %s of Secret %s holds other content than when the revision was made", ref.Key, name)}
	}
	if l.Memory != nil && secret.Type == olmv1.SecretTypeObjectData {
		l.Memory.put(at, secret.ResourceVersion, data)
	}
	return data, nil
}

// readSecret reads a Secret past caches, which hold only some Secrets: clients read what has no type from the API server.
func readSecret(ctx context.Context, reader client.Reader, name types.NamespacedName) (*corev1.Secret, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := reader.Get(ctx, name, u); err != nil {
		return nil, err
	}
	secret := &corev1.Secret{}
	return secret, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, secret)
}

// unpack decompresses what is compressed, within limits.
func unpack(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(r, maxObjectSize+1))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	if len(out) > maxObjectSize {
		return nil, fmt.Errorf("has more than %d bytes when it is decompressed", maxObjectSize)
	}
	return out, nil
}
