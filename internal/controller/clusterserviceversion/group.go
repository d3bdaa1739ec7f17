package clusterserviceversion

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/tenancy"
)

// membership is the OperatorGroups of the namespace of a ClusterServiceVersion, by name. There is to be one.
type membership []v1.OperatorGroup

// membership reads the OperatorGroups of the namespace.
func (o *observer) membership(ctx context.Context) (membership, error) {
	var all v1.OperatorGroupList
	if err := list(ctx, o.cache, &all, "the OperatorGroups of namespace "+o.csv.Namespace, client.InNamespace(o.csv.Namespace)); err != nil {
		return nil, err
	}
	return slices.SortedFunc(slices.Values(all.Items), func(a, b v1.OperatorGroup) int { return strings.Compare(a.Name, b.Name) }), nil
}

// one is the only OperatorGroup; nil when there is not exactly one.
func (m membership) one() *v1.OperatorGroup {
	if len(m) != 1 {
		return nil
	}
	return &m[0]
}

// targets are the target namespaces; none when there is not exactly one group.
func (m membership) targets() []string {
	if len(m) != 1 {
		return nil
	}
	return m[0].Status.Namespaces
}

// failsForward reports whether failed versions are passed over.
func (m membership) failsForward() bool { return len(m) == 1 && m[0].FailForward() }

func (m membership) none(csv *v1alpha1.ClusterServiceVersion) finding {
	return finding{holds: len(m) == 0, detail: tenancy.Advice(csv, csv.Namespace, "operators")}
}

func (m membership) several(*v1alpha1.ClusterServiceVersion) finding {
	var names []string
	for i := range m {
		names = append(names, m[i].Name)
	}
	return finding{holds: len(m) > 1, detail: strings.Join(names, ", ") + "; delete all but one"}
}

// unsynced reports whether the group has not selected its target namespaces yet, or cannot.
func (m membership) unsynced(*v1alpha1.ClusterServiceVersion) finding {
	group := m.one()
	if group == nil || group.Status.IsSelected() && (len(group.Status.Namespaces) > 0 || !meta.IsStatusConditionTrue(group.Status.Conditions, "OperatorGroupInvalid")) {
		return seenNot
	}
	detail := fmt.Sprintf("OperatorGroup %s to select its target namespaces", group.Name)
	for _, c := range group.Status.Conditions {
		if c.Status == metav1.ConditionTrue && !slices.Contains(reconcile.VerdictTypes, c.Type) { // which repeat the message
			detail += ": " + c.Message
		}
	}
	return seen(detail)
}

func (m membership) withoutTargets(*v1alpha1.ClusterServiceVersion) finding {
	if len(m) != 1 || len(m[0].Status.Namespaces) > 0 {
		return seenNot
	}
	return seen(fmt.Sprintf("OperatorGroup %s selects no namespace: label a namespace to match its spec.selector, or name one in its spec.targetNamespaces", m[0].Name))
}

// unsupported compares the targets of the group with the install modes of the CSV. The message begins with the mode that is missing and ends with the
// group that would do.
func (m membership) unsupported(csv *v1alpha1.ClusterServiceVersion) finding {
	group := m.one()
	if group == nil {
		return seenNot
	}
	if missing := tenancy.Supports(csv, group); missing != nil {
		return seen(missing.Error() + "; " + tenancy.Advice(csv, csv.Namespace, group.Name))
	}
	return seenNot
}

// accountMissing reports that the service account that the group names does not exist.
func (m membership) accountMissing(*v1alpha1.ClusterServiceVersion) finding {
	group := m.one()
	if group == nil || group.Spec.ServiceAccountName == "" {
		return seenNot
	}
	if ref := group.Status.ServiceAccountRef; ref == nil || ref.Name != group.Spec.ServiceAccountName {
		return seen(fmt.Sprintf("please make sure the service account exists. sa=%s operatorgroup=%s/%s", group.Spec.ServiceAccountName, group.Namespace, group.Name))
	}
	return seenNot
}

// decider returns the group that decides with which rights the operator is installed, and refuses where there is not exactly one: while the group of an
// account is replaced, the manager's own rights must not be used.
func (m membership) decider(namespace string) (*v1.OperatorGroup, error) {
	group := m.one()
	if group == nil {
		return nil, refused(fmt.Errorf("namespace %s does not have exactly one OperatorGroup, which decides with which rights operators are installed: leave one there", namespace))
	}
	return group, nil
}

// installedAs names for messages the account whose rights an install is limited to; empty when it is not.
func (m membership) installedAs() string {
	if len(m) != 1 || m[0].Spec.ServiceAccountName == "" {
		return ""
	}
	return fmt.Sprintf(" (as ServiceAccount %s/%s of OperatorGroup %s)", m[0].Namespace, m[0].Spec.ServiceAccountName, m[0].Name)
}

// annotations are those of a member of the group; none while there is no group with targets.
func (m membership) annotations() map[string]string {
	if group := m.one(); group != nil && len(group.Status.Namespaces) > 0 && !m.unsynced(nil).holds {
		return tenancy.MemberAnnotations(group)
	}
	return nil
}

// webhookNamespaces limits admission webhooks to the target namespaces of the group: those that carry its label where
// they are named, those that its selector matches else, and all where there is neither.
func (m membership) webhookNamespaces() *metav1.LabelSelector {
	group := m.one()
	switch {
	case group == nil:
		return nil
	case len(group.Spec.TargetNamespaces) > 0:
		return &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.OperatorGroupUIDLabelPrefix + string(group.UID): ""}}
	}
	return group.Spec.Selector.DeepCopy()
}

// verdict compares the APIs of the CSV with those of its group and of all groups that list one of them: what speaks against providing them in the target
// namespaces.
func (s *snapshot) verdict(ctx context.Context) (tenancy.Verdict, error) {
	return s.verdictRead.get(func() (none tenancy.Verdict, _ error) {
		groups, err := s.groups(ctx)
		group := groups.one()
		if err != nil || group == nil {
			return none, err
		}
		var others []*v1.OperatorGroup
		for api := range tenancy.ProvidedBy(s.csv) {
			var all v1.OperatorGroupList
			if err := list(ctx, s.cache, &all, "the OperatorGroups that provide "+api, client.MatchingFields{indexByListed: api}); err != nil {
				return none, err
			}
			for i := range all.Items {
				others = append(others, &all.Items[i])
			}
		}
		claim, err := tenancy.ClaimedBy(s.csv, group.Spec.ServiceAccountName != "", tenancy.Definitions{
			CRD: func(name string) (metav1.Object, error) {
				crd, err := s.crd(ctx, name)
				if err != nil || crd == nil {
					return nil, err
				}
				return crd, nil
			},
			APIService: func(name string) (metav1.Object, error) {
				service, err := s.apiService(ctx, name)
				if err != nil || service == nil {
					return nil, err
				}
				return service, nil
			},
		})
		if err != nil {
			return none, err
		}
		return tenancy.Judge(tenancy.Member{ClusterServiceVersion: s.csv, Claim: claim}, group, tenancy.Distinct(others)), nil
	})
}
