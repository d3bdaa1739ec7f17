package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
)

// PlanRecord is an InstallPlan of a Subscription that is kept.
type PlanRecord struct {
	Generation int    `json:"generation"`
	Name       string `json:"name"`
	// Installs are the ClusterServiceVersions, and Bundles the images that hold them.
	Installs []string `json:"installs"`
	Bundles  []string `json:"bundles,omitempty"`
	// Catalogs are those that offered them, as NAMESPACE/NAME.
	Catalogs []string  `json:"catalogs,omitempty"`
	Approval string    `json:"approval"`
	Approved bool      `json:"approved"`
	Phase    string    `json:"phase"`
	Created  time.Time `json:"created"`
	// Message says what is in the way, or was.
	Message string `json:"message,omitempty"`
}

// SubscriptionHistory is the InstallPlans of a Subscription that are kept, the newest first.
type SubscriptionHistory struct {
	Subscription string       `json:"subscription"` // namespace/name
	Package      string       `json:"package,omitempty"`
	Installed    string       `json:"installed,omitempty"`
	Plans        []PlanRecord `json:"plans"`

	replaced map[string]string // what a ClusterServiceVersion came in the place of
}

// Before is the ClusterServiceVersion that the installed one replaced, as far as the plans tell; otherwise empty.
func (h *SubscriptionHistory) Before() string { return h.replaced[h.Installed] }

// ReadSubscriptionHistory reads the history of a Subscription.
func ReadSubscriptionHistory(ctx context.Context, reader client.Reader, key client.ObjectKey) (*SubscriptionHistory, error) {
	sub, err := subscriptionOf(ctx, reader, key)
	if err != nil {
		return nil, err
	}
	var plans v1alpha1.InstallPlanList
	if err := reader.List(ctx, &plans, client.InNamespace(key.Namespace)); err != nil {
		return nil, fmt.Errorf("list the InstallPlans of namespace %s: %w", key.Namespace, err)
	}
	return subscriptionHistoryOf(sub, plans.Items), nil
}

// subscriptionHistoryOf is the history of a Subscription among the InstallPlans of its namespace, which it sorts.
func subscriptionHistoryOf(sub *v1alpha1.Subscription, plans []v1alpha1.InstallPlan) *SubscriptionHistory {
	h := &SubscriptionHistory{Subscription: client.ObjectKeyFromObject(sub).String(), Installed: sub.Status.InstalledCSV, Plans: []PlanRecord{}, replaced: map[string]string{}}
	if sub.Spec != nil {
		h.Package = sub.Spec.Package
	}
	slices.SortFunc(plans, func(a, b v1alpha1.InstallPlan) int {
		return cmp.Or(cmp.Compare(b.Spec.Generation, a.Spec.Generation), b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for i := range plans {
		if p := &plans[i]; plansFor(p, sub) {
			h.Plans = append(h.Plans, recordOf(p))
			for _, l := range p.Status.BundleLookups {
				h.replaced[l.Identifier] = cmp.Or(h.replaced[l.Identifier], l.Replaces)
			}
		}
	}
	return h
}

// subscriptionOf reads a Subscription. That there is none is an error.
func subscriptionOf(ctx context.Context, reader client.Reader, key client.ObjectKey) (*v1alpha1.Subscription, error) {
	sub := &v1alpha1.Subscription{}
	err := reader.Get(ctx, key, sub)
	if apierrors.IsNotFound(err) {
		return nil, &messages.AskedError{Lack: messages.NotThere, Text: fmt.Sprintf("read Subscription %s: there is none of that name", key),
			Command: fmt.Sprintf("fairlead list -n %s lists what the namespace has, and fairlead resolve --subscribe PACKAGE -n %[1]s decides what a new one would install", key.Namespace)}
	}
	if err != nil {
		return nil, fmt.Errorf("read Subscription %s: %w", key, err)
	}
	return sub, nil
}

// plansFor reports whether a plan is one of a Subscription: the Subscription owns it, or refers to it, or has installed what it installs.
func plansFor(p *v1alpha1.InstallPlan, sub *v1alpha1.Subscription) bool {
	if ref := sub.Status.InstallPlanRef; ref != nil && ref.Name == p.Name {
		return true
	}
	for _, owner := range p.OwnerReferences {
		if owner.Kind == v1alpha1.SubscriptionKind && owner.Name == sub.Name && (owner.UID == sub.UID || sub.UID == "") {
			return true
		}
	}
	return sub.Status.InstalledCSV != "" && slices.Contains(p.Spec.ClusterServiceVersionNames, sub.Status.InstalledCSV)
}

func recordOf(p *v1alpha1.InstallPlan) PlanRecord {
	r := PlanRecord{Generation: p.Spec.Generation, Name: p.Name, Installs: append([]string{}, p.Spec.ClusterServiceVersionNames...), Approval: string(p.Spec.Approval), Approved: p.Spec.Approved,
		Phase: cmp.Or(string(p.Status.Phase), "new"), Created: p.CreationTimestamp.UTC(), Message: p.Status.Message}
	for _, l := range p.Status.BundleLookups {
		if l.Path != "" {
			r.Bundles = append(r.Bundles, l.Path)
		}
		if ref := l.CatalogSourceRef; ref != nil {
			r.from(ref.Namespace + "/" + ref.Name)
		}
	}
	var decision resolution.NamespaceRecord
	if json.Unmarshal([]byte(p.Annotations[resolution.DecisionAnnotation]), &decision) == nil { // which tells where bundles without image come from
		for _, choice := range decision.Outcome.Install {
			r.from(choice.Catalog)
		}
	}
	for _, s := range p.Status.Plan {
		if s != nil && s.Resource.CatalogSource != "" {
			r.from(s.Resource.CatalogSourceNamespace + "/" + s.Resource.CatalogSource)
		}
	}
	for _, c := range p.Status.Conditions {
		if r.Message == "" && c.Type == v1alpha1.InstallPlanInstalled && c.Status == corev1.ConditionFalse {
			r.Message = c.Message
		}
	}
	return r
}

func (r *PlanRecord) from(catalog string) {
	if catalog != "" && !slices.Contains(r.Catalogs, catalog) {
		r.Catalogs = append(r.Catalogs, catalog)
	}
}

// Write prints a table.
func (h *SubscriptionHistory) Write(w io.Writer) error {
	rows := [][]string{{"GENERATION", "INSTALLPLAN", "INSTALLS", "CATALOG", "APPROVAL", "PHASE", "CREATED", "NOTE"}}
	for _, p := range h.Plans {
		approval := p.Approval
		if approval == string(v1alpha1.ApprovalManual) && p.Approved {
			approval += ", approved"
		}
		rows = append(rows, []string{strconv.Itoa(p.Generation), p.Name, strings.Join(p.Installs, ", "), strings.Join(p.Catalogs, ", "), approval, p.Phase,
			p.Created.Format("2006-01-02 15:04:05"), headline(p.Message)})
	}
	text := fmt.Sprintf("Subscription %s has no InstallPlan any more, or none yet\n", messages.Clean(h.Subscription))
	if len(h.Plans) > 0 {
		text = messages.Table(rows...)
	}
	if h.Installed != "" {
		text += "installed: " + messages.Clean(h.Installed) + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}
