package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/tenancy"
)

const (
	// cleanupInterval is how often the custom resources that are being deleted are observed: no one watches kinds that
	// only operators know.
	cleanupInterval = 3 * time.Second
	// cleanupPage is how many custom resources are read at a time.
	cleanupPage = 500
	// maxPending is how many instances of a kind the status names.
	maxPending = 50
)

// remains are the custom resources that are left of an operator with spec.cleanup.
type remains struct {
	kinds []v1alpha1.ResourceList
	total int
	// blocked names an instance that only waits for its finalizers, with these.
	blocked string
	// trouble is why some could not be listed or deleted.
	trouble error
}

// cleanUp deletes the custom resources of an operator whose CSV asks for that, while the operator still runs and can do
// what their finalizers stand for. It returns what is still there; nil means that the CSV need not wait.
func (e *ending) cleanUp(ctx context.Context) (*remains, error) {
	if !e.csv.Spec.Cleanup.Enabled || e.csv.Status.Phase == toReplacing || e.csv.Status.Reason == v1alpha1.CSVReasonReplaced {
		return nil, nil
	}
	groups, err := e.groups(ctx)
	if err != nil {
		return nil, err
	}
	group := groups.one()
	if group == nil || len(group.Status.Namespaces) == 0 {
		e.spare("no custom resource is deleted, because without one OperatorGroup it is not known whose they are")
		return nil, nil
	}
	out := &remains{}
	for _, description := range e.csv.Spec.CustomResourceDefinitions.Owned {
		out.trouble = errors.Join(out.trouble, e.cleanUpKind(ctx, groups, description, out))
	}
	_, going, err := e.namespace(ctx, e.csv.Namespace)
	if err != nil || going || out.total == 0 && out.trouble == nil {
		return nil, err // a namespace takes the operator along: there is no one to wait for
	}
	return out, nil
}

// spare reports once what spec.cleanup does not delete, and why.
func (e *ending) spare(what string) {
	if e.csv.Status.Reason != v1alpha1.CSVReasonWaitingOnCleanup {
		e.actor.tell(e.csv, corev1.EventTypeWarning, v1alpha1.CSVReasonWaitingOnCleanup, "spec.cleanup: "+what)
	}
}

// cleanUpKind deletes the instances of one owned CRD and notes those that are still there.
func (e *ending) cleanUpKind(ctx context.Context, groups membership, description v1alpha1.CRDDescription, out *remains) error {
	crd, err := e.crd(ctx, description.Name)
	if err != nil || crd == nil {
		return err
	}
	// Who may write CSVs may list any CRD as owned. Who may write CRDs reports which operator brought one.
	if !tenancy.Brought(crd, e.csv.Namespace, e.csv.Name) {
		e.spare(fmt.Sprintf("no %s is deleted, because no InstallPlan brought CRD %s for this ClusterServiceVersion (its annotation %s would say so)",
			crd.Spec.Names.Kind, crd.Name, bundle.InstalledAlongsideKey(e.csv.Namespace, e.csv.Name)))
		return nil
	}
	// Report in which namespaces the instances of a CRD are this operator's own: in those that its OperatorGroup targets, as far as no
	// other operator provides the same API there. The empty namespace stands for what has none.
	targets := groups.targets()
	others, err := e.otherProviders(ctx, crd.Name)
	if err != nil {
		return err
	}
	everywhere := func(namespaces []string) bool { return slices.Contains(namespaces, metav1.NamespaceAll) }
	mine := func(namespace string) bool {
		if everywhere(others) || namespace == "" && len(others) > 0 {
			return false
		}
		if everywhere(targets) {
			return !slices.Contains(others, namespace)
		}
		return namespace != "" && slices.Contains(targets, namespace) && !slices.Contains(others, namespace)
	}
	left := v1alpha1.ResourceList{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind, Instances: []v1alpha1.ResourceInstance{}}
	var refused error
	err = e.eachInstance(ctx, crd, description.Version, groups.targets(), func(o *metav1.PartialObjectMetadata) {
		if !mine(o.Namespace) {
			return
		}
		out.total++
		if len(left.Instances) < maxPending {
			left.Instances = append(left.Instances, v1alpha1.ResourceInstance{Namespace: o.Namespace, Name: o.Name})
		}
		if !o.DeletionTimestamp.IsZero() {
			if out.blocked == "" && len(o.Finalizers) > 0 {
				out.blocked = fmt.Sprintf("%s %s waits for its finalizers %s", left.Kind, client.ObjectKeyFromObject(o), strings.Join(o.Finalizers, ", "))
			}
			return
		}
		installer, err := e.actor.installer(ctx, e.snapshot) // with the rights of the install
		if err == nil {
			if err = client.IgnoreNotFound(installer.Delete(ctx, o, client.Preconditions{UID: &o.UID})); err != nil {
				err = fmt.Errorf("delete %s %s: %w", o.Kind, client.ObjectKeyFromObject(o), err)
			}
		}
		if err != nil && refused == nil {
			refused = fmt.Errorf("%w%s", err, groups.installedAs())
		}
	})
	if len(left.Instances) > 0 {
		out.kinds = append(out.kinds, left)
	}
	return errors.Join(err, refused)
}

// otherProviders are the target namespaces of the other operators that own a CRD. One whose OperatorGroup is not in
// order may have any.
func (e *ending) otherProviders(ctx context.Context, crd string) ([]string, error) {
	all, err := e.providers(ctx, crd)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range all {
		other := &all[i]
		if other.UID == e.csv.UID || !other.OwnsCRD(crd) || !other.DeletionTimestamp.IsZero() {
			continue
		}
		if other.Namespace == e.csv.Namespace {
			return []string{metav1.NamespaceAll}, nil
		}
		groups, err := e.of(other).membership(ctx)
		if err != nil {
			return nil, err
		}
		if len(groups.targets()) == 0 {
			return []string{metav1.NamespaceAll}, nil
		}
		out = append(out, groups.targets()...)
	}
	return out, nil
}

// eachInstance reads the metadata of the instances of a CRD in some namespaces, page by page, straight from the cluster: in the preferred version where it is
// served, else in the first that is.
func (e *ending) eachInstance(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, preferred string, namespaces []string, visit func(*metav1.PartialObjectMetadata)) error {
	if !served(crd, preferred) {
		at := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Served })
		if at < 0 {
			return nil
		}
		preferred = crd.Spec.Versions[at].Name
	}
	kind := schema.GroupVersionKind{Group: crd.Spec.Group, Version: preferred, Kind: crd.Spec.Names.Kind}
	var errs []error
	for _, namespace := range namespaces {
		for token, more := "", true; more; more = token != "" {
			page := &metav1.PartialObjectMetadataList{} // a new one: what a page leaves out would be that of the page before
			page.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
			if err := e.live.List(ctx, page, client.InNamespace(namespace), client.Limit(cleanupPage), client.Continue(token)); err != nil {
				errs = append(errs, fmt.Errorf("list the %s objects of namespace %q: %w", kind.Kind, namespace, err))
				break
			}
			for i := range page.Items {
				page.Items[i].SetGroupVersionKind(kind)
				visit(&page.Items[i])
			}
			token = page.Continue
		}
	}
	return errors.Join(errs...)
}

// waitForCleanup reports in the status what the CSV waits for.
func (c *Controller) waitForCleanup(ctx context.Context, csv *v1alpha1.ClusterServiceVersion, left *remains) error {
	now := metav1.NewTime(c.clock.Now()).Rfc3339Copy()
	after := csv.Status.DeepCopy()
	after.Cleanup.PendingDeletion = left.kinds
	var kinds []string
	for _, k := range left.kinds {
		kinds = append(kinds, k.Kind)
	}
	message := fmt.Sprintf("spec.cleanup: waiting for %d custom resources to be deleted (%s)", left.total, strings.Join(kinds, ", "))
	if left.trouble != nil {
		message += "; " + left.trouble.Error()
	}
	if left.blocked != "" {
		message += "; " + left.blocked + ", which the operator removes"
	}
	if left.trouble != nil || left.blocked != "" {
		message += "; set spec.cleanup.enabled to false to delete the ClusterServiceVersion without waiting"
	}
	moved := after.Phase != toDeleting || after.Reason != v1alpha1.CSVReasonWaitingOnCleanup
	if moved || after.Message != message {
		after.SetPhase(toDeleting, v1alpha1.CSVReasonWaitingOnCleanup, message, now)
	}
	if equality.Semantic.DeepEqual(&csv.Status, after) {
		return nil
	}
	var steps []step
	if moved {
		steps = []step{{state{toDeleting, v1alpha1.CSVReasonWaitingOnCleanup}, message}}
	}
	return c.write(ctx, csv, after, steps)
}
