package clusterserviceversion

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// nameAsOwn gives a role or binding a name that nobody else has. It has a documented name, which does not tell apart the
// namespaces that an operator runs in, and which a bundle or a user may have given to something of their own: what is not
// marked as made by this controller for an operator of this namespace is never overwritten. There, the namespace is added.
func (f *facts) nameAsOwn(ctx context.Context, object client.Object) error {
	documented := object.GetName()
	for _, name := range []string{documented, documented + "-" + f.csv.Namespace} {
		object.SetName(name)
		if free, err := f.isFree(ctx, object); err != nil || free {
			return err
		}
	}
	return refused(fmt.Errorf("make %s %s: it exists, and so does %s, and neither was made for an operator of namespace %s: rename or delete one of them",
		kindOf(object), client.ObjectKey{Namespace: object.GetNamespace(), Name: documented}, object.GetName(), f.csv.Namespace))
}

// isFree says whether an object can be made under its name, or was made before.
func (f *facts) isFree(ctx context.Context, object client.Object) (bool, error) {
	live := emptyLike(object)
	err := f.c.readerFor(object.GetNamespace()).Get(ctx, client.ObjectKeyFromObject(object), live, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		// The cache may not show yet what others have just made.
		err = f.c.live.Get(ctx, client.ObjectKeyFromObject(object), live)
	}
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s %s: %w", kindOf(object), client.ObjectKeyFromObject(object), err)
	}
	return f.madeLike(live, object)
}

// madeLike says whether this controller made the live object, for an operator of the namespace and for the same purpose
// as the wanted one; an earlier version of the operator may have left it. Other lifecycle managers use the same names and
// no mark: what lacks nothing but the mark is taken over.
func (f *facts) madeLike(live, wanted client.Object) (bool, error) {
	owner, ok := ownerOf(live)
	if !ok || owner.Namespace != f.csv.Namespace {
		return false, nil
	}
	if f.isLifted(wanted) && f.isLifted(live) || f.isServingAccess(wanted) && f.isServingAccess(live) || f.isCopied(wanted) && f.isCopied(live) {
		return true, nil
	}
	return grantsSame(live, wanted), nil
}
