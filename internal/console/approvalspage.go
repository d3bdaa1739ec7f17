package console

import (
	"context"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1alpha1 "fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// plansPerPage is how many that wait a page shows at length: each has its bundles read.
const plansPerPage = 20

// approvals are the page of what waits for a person, and what a person may do about it.
type approvals struct{ *Console }

// approvalsPage is what waits for a person, each with what it would change.
type approvalsPage struct {
	Plans      []waitingPlan      `json:"plans"`
	Extensions []waitingExtension `json:"extensions"`
	Held       []heldUpgrade      `json:"held"`
	// Total is how many wait for a person; this page shows some of them.
	Total int      `json:"total"`
	Page  int      `json:"page"`
	Pages int      `json:"pages"`
	Notes []string `json:"notes,omitempty"`
}

// waitingPlan is an InstallPlan.
type waitingPlan struct {
	ops.PendingPlan
	// Change is what would become of the objects; nil while Reading is true, and where Problem is why that is not known.
	Change  *preview.SubscriptionPlan `json:"change,omitempty"`
	Reading bool                      `json:"reading,omitempty"`
	Problem string                    `json:"problem,omitempty"`
	// Approve, Refuse and Discard are the rights to do so.
	Approve Right `json:"approve"`
	Refuse  Right `json:"refuse"`
	Discard Right `json:"discard"`
}

// Obstructed reports whether nothing good would come of approving it.
func (w waitingPlan) Obstructed() bool {
	return w.Change != nil && (len(w.Change.Misfits) > 0 || slices.ContainsFunc(w.Change.Operators, func(o *preview.OperatorChange) bool { return len(o.Blocked) > 0 }))
}

// waitingExtension is a ClusterExtension whose upgrade asks for permissions.
type waitingExtension struct {
	ops.PendingExtension
	Change  *preview.ExtensionPlan `json:"change,omitempty"`
	Reading bool                   `json:"reading,omitempty"`
	Problem string                 `json:"problem,omitempty"`
	Approve Right                  `json:"approve"`
}

// heldUpgrade waits for its window.
type heldUpgrade struct {
	ops.HeldUpgrade
	Release Right `json:"release"`
}

// Subject is the object, as the address of its page has it.
func (h heldUpgrade) Subject() string { return h.Kind + "/" + h.Namespace + "/" + h.Name }

func (c approvals) page(ctx context.Context, q *query) (any, error) {
	all, err := ops.ListApprovals(ctx, q.user.client, q.namespace(ctx))
	if err != nil {
		return nil, err
	}
	p := &approvalsPage{Plans: []waitingPlan{}, Extensions: []waitingExtension{}, Held: []heldUpgrade{}, Total: all.Waiting(), Notes: all.Notes}
	var from, to int
	p.Page, p.Pages, from, to = paged(q.get("page"), p.Total, plansPerPage)
	rights := rightsOf(ctx, q.user)
	for i, plan := range all.Plans {
		if i >= from && i < to {
			p.Plans = append(p.Plans, c.waitingPlan(ctx, q, plan, rights))
		}
	}
	for i, e := range all.Extensions {
		if i += len(all.Plans); i >= from && i < to {
			p.Extensions = append(p.Extensions, c.waitingExtension(ctx, q, e, rights))
		}
	}
	for _, h := range all.Held {
		p.Held = append(p.Held, heldUpgrade{h, rights("patch", resourceOf(h.Kind), h.Namespace)})
	}
	return p, nil
}

// asked is what an answer that takes long is about, and who asks.
type asked struct {
	user     *User
	question string
}

// maxAnswers is how many are kept.
const maxAnswers = 64

// waitingPlan is a plan with what it would change, which is read from its bundles.
func (c approvals) waitingPlan(ctx context.Context, q *query, plan ops.PendingPlan, rights func(verb, resource, namespace string) Right) waitingPlan {
	w := waitingPlan{PendingPlan: plan, Approve: rights("patch", "installplans", plan.Namespace), Refuse: rights("patch", "subscriptions", plan.Namespace),
		Discard: rights("delete", "installplans", plan.Namespace)}
	subscription := ""
	if len(plan.Subscriptions) > 0 {
		subscription = plan.Subscriptions[0]
	}
	var err error
	w.Change, w.Reading, err = c.planned.get(ctx, asked{q.user, plan.Namespace + "/" + plan.Name + " " + plan.Mark}, q.whole, q.user,
		func(ctx context.Context) (*preview.SubscriptionPlan, error) {
			return c.planner(q.user).Open(ctx, plan.Plan, subscription, q.user.dial())
		})
	if err != nil {
		w.Problem = explain(err).text
	}
	return w
}

// waitingExtension is an extension with what its upgrade would change.
func (c approvals) waitingExtension(ctx context.Context, q *query, e ops.PendingExtension, rights func(verb, resource, namespace string) Right) waitingExtension {
	w := waitingExtension{PendingExtension: e, Approve: rights("patch", "clusterextensions", "")}
	var err error
	w.Change, w.Reading, err = c.extended.get(ctx, asked{q.user, e.Name + " " + e.Mark}, q.whole, q.user, func(ctx context.Context) (*preview.ExtensionPlan, error) {
		question, err := c.extensions(ctx, q.user)
		if err != nil {
			return nil, err
		}
		return c.planner(q.user).Plan(ctx, question, e.Name)
	})
	if err != nil {
		w.Problem = explain(err).text
	}
	return w
}

// rightsOf asks for rights, each once.
func rightsOf(ctx context.Context, u *User) func(verb, resource, namespace string) Right {
	known := map[[3]string]Right{}
	return func(verb, resource, namespace string) Right {
		key := [3]string{verb, resource, namespace}
		if _, asked := known[key]; !asked {
			group := operatorsv1alpha1.GroupName
			if resource == "clusterextensions" || resource == "clustercatalogs" {
				group, namespace = olmv1.GroupVersion.Group, ""
			}
			known[key] = u.may(ctx, verb, group, resource, namespace)
		}
		return known[key]
	}
}

// resourceOf is the resource of a kind that can be held.
func resourceOf(kind string) string {
	if kind == olmv1.ClusterExtensionKind {
		return "clusterextensions"
	}
	return "subscriptions"
}

func (c approvals) part() part {
	return part{
		views: []view{{path: "/approvals", template: "approvals", title: "Approvals", load: c.page}},
		actions: []action{{path: "/approvals/approve", do: c.approvePlan}, {path: "/approvals/discard", do: c.discardPlan}, {path: "/approvals/refuse", do: c.refuse},
			{path: "/approvals/permissions", do: c.approvePermissions}},
	}
}
