package clusterserviceversion

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout"
)

// observe makes an observation from the values that it needs.
type observe func(context.Context, *snapshot) (finding, error)

// observers define how each observation is made: which value is read, and how it is judged.
var observers = map[observation]observe{
	always:       ofPass(func(*snapshot) finding { return seen("") }),
	adoptRefused: ofPass(func(s *snapshot) finding { return failed(s.done.refusedMarks) }),
	metadataDiffers: ofGroups(func(m membership, csv *v1alpha1.ClusterServiceVersion) finding {
		return marksMissing(csv, m.annotations())
	}),
	beyondTargets: observeBeyondTargets,
	noGroup:       ofGroups(membership.none),
	severalGroups: ofGroups(membership.several),
	groupUnsynced: ofGroups(membership.unsynced),
	noTargets:     ofGroups(membership.withoutTargets),
	duplicateModes: ofPass(func(s *snapshot) finding {
		_, err := v1alpha1.NewInstallModeSet(s.csv.Spec.InstallModes)
		return failed(err)
	}),
	unsupportedGroup: ofGroups(membership.unsupported),
	apisStatic:       ofVerdict(v1alpha1.CSVReasonCannotModifyStaticProvidedAPIs),
	apisConflict:     ofVerdict(v1alpha1.CSVReasonInterOperatorGroupOwnerConflict),
	apisUnlisted: func(ctx context.Context, s *snapshot) (finding, error) {
		verdict, err := s.verdict(ctx)
		return finding{holds: verdict.Awaits, detail: verdict.Detail}, err
	},
	driftedUnsettled: observeDriftedUnsettled,
	failForwardReplaced: func(ctx context.Context, s *snapshot) (finding, error) {
		if groups, err := s.groups(ctx); err != nil || !groups.failsForward() {
			return seenNot, err
		}
		// One that is pinned is not passed over: the next version waits for it, so that none would run at all.
		return ofChain((*chain).handsOver)(ctx, s)
	},
	predecessorNotUpgradeable: ofChain((*chain).predecessorPinned),
	requirementsInvalid:       ofPass(func(s *snapshot) finding { return failed(bundle.CheckInstallable(s.csv)) }),
	outgrown: func(ctx context.Context, s *snapshot) (finding, error) {
		chain, err := s.chain(ctx)
		if err != nil || !chain.handsOver().holds {
			return seenNot, err
		}
		crds, err := s.crds(ctx)
		return chain.outgrown(crds), err
	},
	requirementsNotMet: func(ctx context.Context, s *snapshot) (finding, error) {
		checked, err := s.requirements(ctx)
		if err != nil {
			return seenNot, err
		}
		return checked.notMet(), nil
	},
	webhooksInvalid: ofPass(func(s *snapshot) finding { return failed(checkWebhooks(s.csv)) }),
	crdConflict:     ofChain((*chain).crdConflict),
	deploymentsForeign: func(ctx context.Context, s *snapshot) (finding, error) {
		chain, err := s.chain(ctx)
		if err != nil {
			return seenNot, err
		}
		live, err := s.deployments(ctx)
		return chain.deploymentsForeign(live), err
	},
	predecessorHolds: ofChain((*chain).predecessorHolds),
	installerMissing: ofGroups(membership.accountMissing),

	notInstalled: ofPass(func(s *snapshot) finding { return finding{holds: !s.done.attempted} }),
	installRefused: ofPass(func(s *snapshot) finding {
		if s.done.failure == nil || !isRefusal(s.done.failure) {
			return seenNot
		}
		s.due.unwatched = true
		return failed(s.done.failure)
	}),
	stillRefused:  observeStillRefused,
	installFailed: ofPass(func(s *snapshot) finding { return failed(s.done.failure) }),

	notComputable: func(ctx context.Context, s *snapshot) (finding, error) {
		found, err := ofCertificates(func(c *certificate) error { return c.unusable })(ctx, s)
		if err != nil || found.holds {
			return found, err
		}
		if _, err = s.workload(ctx); isOurRefusal(err) {
			return failed(err), nil
		}
		return seenNot, err
	},
	deploymentsMissing: ofWorkload(beforeInstall, func(_ context.Context, s *snapshot, w *workload, live deployments) (finding, error) {
		return w.first(func(desired *appsv1.Deployment) string {
			if d := live[desired.Name]; d == nil || !d.DeletionTimestamp.IsZero() || !ownedBy(d, s.csv) {
				return "missing deployment with name=" + desired.Name
			}
			return ""
		}), nil
	}),
	deploymentsChanged: ofWorkload(beforeInstall, func(_ context.Context, _ *snapshot, w *workload, live deployments) (finding, error) {
		return w.first(live.changed), nil
	}),
	deploymentsStuck: ofWorkload(anyTime, func(ctx context.Context, s *snapshot, w *workload, live deployments) (finding, error) {
		health := s.health(ctx, live)
		return w.first(func(d *appsv1.Deployment) string {
			switch h := health(d); h.State {
			case rollout.Stuck:
				return fmt.Sprintf("deployment %s not ready before timeout: %s", d.Name, h.Message)
			case rollout.CrashLooping:
				return fmt.Sprintf("deployment %s does not keep running: %s", d.Name, h.Message)
			}
			return ""
		}), nil
	}),
	deploymentsUnready: ofWorkload(anyTime, func(ctx context.Context, s *snapshot, w *workload, live deployments) (finding, error) {
		// That the cluster has not reconciled yet a change to a Deployment that runs does not mean that it stops running: its answer is an event.
		runs, health := s.csv.Status.Phase == toSucceeded && !s.done.attempted, s.health(ctx, live)
		return w.first(func(d *appsv1.Deployment) string {
			if h := health(d); !runs || h.State != rollout.Unobserved {
				return unready(d, h)
			}
			return ""
		}), nil
	}),
	deploymentsUnproven: ofWorkload(anyTime, func(ctx context.Context, s *snapshot, w *workload, live deployments) (finding, error) {
		health := s.health(ctx, live)
		return w.first(func(d *appsv1.Deployment) string {
			if h := health(d); h.State == rollout.Unproven {
				return fmt.Sprintf("waiting for deployment %s to keep running: %s", d.Name, h.Message)
			}
			return ""
		}), nil
	}),
	drifted: observeDrifted,
	apiServicesForeign: func(ctx context.Context, s *snapshot) (finding, error) {
		return servers{s.observer}.apiServicesForeign(ctx)
	},
	apiServicesBroken: ofWorkload(beforeInstall, func(ctx context.Context, s *snapshot, w *workload, _ deployments) (finding, error) {
		return firstChange(s.drift(ctx, w.apiServices))
	}),
	apiServicesUnready: ofWorkload(anyTime, func(ctx context.Context, s *snapshot, w *workload, _ deployments) (finding, error) {
		return servers{s.observer}.apiServicesUnready(ctx, w)
	}),
	apisDisrupted: ofWorkload(anyTime, func(ctx context.Context, s *snapshot, w *workload, live deployments) (finding, error) {
		found, err := servers{s.observer}.apisDisrupted(ctx, w, live)
		if found.holds {
			s.due.by(s.clock.Now().Add(disruptionInterval))
		}
		return found, err
	}),
	certificatesDue:         ofCertificates(replaceable),
	certificatesUnstaged:    ofCertificates(unstaged),
	certificatesUntrusted:   ofCertificates(untrusted),
	ownCertificatesUnstaged: ofOwnCertificates(unstaged),
	ownCertificatesDue:      ofOwnCertificates(replaceable),
	webhooksMissing: func(ctx context.Context, s *snapshot) (finding, error) {
		if s.done.hooked {
			return seenNot, nil
		}
		// They are registered once the Deployments behind them are available, so that no request has to fail for want of a server.
		hooks, err := s.hooks(ctx)
		if err != nil {
			return seenNot, err
		}
		drift, err := s.hookDrift(ctx, hooks)
		return drift.finding(), err
	},
	webhooksFailed:  ofPass(func(s *snapshot) finding { return failed(s.done.hookFailure) }),
	installTimedOut: observeTimedOut,

	replaced:           ofChain((*chain).handsOver),
	predecessorExists:  ofChain((*chain).predecessorExists),
	successorInstalled: observeSuccessor(false),
	requestsUnderWay:   observeSuccessor(true),
	driftedMeanwhile:   observeDriftedMeanwhile,
	successorMissing:   ofChain((*chain).successorMissing),
	unhealthyMeanwhile: observeUnhealthyMeanwhile,
	healthyMeanwhile: func(ctx context.Context, s *snapshot) (finding, error) {
		if !strings.Contains(s.csv.Status.Message, meanwhile) {
			return seenNot, nil
		}
		return ofChain((*chain).replaced)(ctx, s)
	},
}

// ofPass judges the CSV itself, and what the actions of the pass have done.
func ofPass(judge func(*snapshot) finding) observe {
	return func(_ context.Context, s *snapshot) (finding, error) { return judge(s), nil }
}

// ofGroups judges the OperatorGroups of the namespace.
func ofGroups(judge func(membership, *v1alpha1.ClusterServiceVersion) finding) observe {
	return func(ctx context.Context, s *snapshot) (finding, error) {
		groups, err := s.groups(ctx)
		if err != nil {
			return seenNot, err
		}
		return judge(groups, s.csv), nil
	}
}

// ofVerdict looks for a reason that speaks against providing the APIs of the CSV in the target namespaces.
func ofVerdict(because reason) observe {
	return func(ctx context.Context, s *snapshot) (finding, error) {
		verdict, err := s.verdict(ctx)
		return finding{holds: verdict.Reason == because, detail: verdict.Detail}, err
	}
}

// ofChain judges the replacements.
func ofChain(judge func(*chain) finding) observe {
	return func(ctx context.Context, s *snapshot) (finding, error) {
		chain, err := s.chain(ctx)
		if err != nil {
			return seenNot, err
		}
		return judge(chain), nil
	}
}

// ofCertificates looks for a serving certificate that there is a reason for.
func ofCertificates(reason reasonOf) observe {
	return func(ctx context.Context, s *snapshot) (finding, error) {
		all, err := s.certificates(ctx)
		if due := all.choose(reason); len(due) > 0 {
			return seen(fmt.Sprintf("Secret %s: %v", due[0].key().Name, reason(due[0]))), nil
		}
		return seenNot, err
	}
}

// ofOwnCertificates looks for them while the next version takes its time: it may wait for something for long, and this version
// serves meanwhile. What a successor has adopted, that one renews.
func ofOwnCertificates(reason reasonOf) observe {
	return func(ctx context.Context, s *snapshot) (finding, error) {
		if kept, err := keptMeanwhile(ctx, s); err != nil || !kept {
			return seenNot, err
		}
		return ofCertificates(reason.ownedBy(s.csv))(ctx, s)
	}
}

// Whether an observation of the workload makes sense after an install in the same pass: caches may not show yet what was applied.
const (
	anyTime       = true
	beforeInstall = false
)

// ofWorkload judges the objects of the strategy.
func ofWorkload(afterInstall bool, judge func(context.Context, *snapshot, *workload, deployments) (finding, error)) observe {
	return func(ctx context.Context, s *snapshot) (finding, error) {
		if s.done.attempted && !afterInstall {
			return seenNot, nil
		}
		w, err := s.workload(ctx)
		if err != nil {
			return seenNot, err
		}
		live, err := s.deployments(ctx)
		if err != nil {
			return seenNot, err
		}
		return judge(ctx, s, w, live)
	}
}

// failed is the finding that there is an error.
func failed(err error) finding {
	if err == nil {
		return seenNot
	}
	return seen(err.Error())
}

// firstChange names the first of some changes.
func firstChange(changes []change, err error) (finding, error) {
	if err != nil || len(changes) == 0 {
		return seenNot, err
	}
	return seen(changes[0].String()), nil
}

// observeBeyondTargets looks for permissions outside of what the group targets. The cache may still show those that were removed in this pass.
func observeBeyondTargets(ctx context.Context, s *snapshot) (finding, error) {
	groups, err := s.groups(ctx)
	if err != nil || s.done.withdrawn {
		return seenNot, err
	}
	beyond, err := rights{s.observer, groups}.beyondTargets(ctx)
	if err != nil || len(beyond) == 0 {
		return seenNot, err
	}
	return seen(describeObject(beyond[0])), nil
}

// observeDrifted looks for anything that is not as desired. What was applied in this pass counts as desired: the caches may not
// show it yet.
func observeDrifted(ctx context.Context, s *snapshot) (finding, error) {
	if s.done.attempted || s.done.corrected {
		return seenNot, nil
	}
	return firstChange(s.changes(ctx))
}

// observeDriftedUnsettled looks for drift while the OperatorGroup has yet to select its target namespaces or to list the APIs of the CSV. What runs
// continues to run meanwhile, which may take until a user corrects the group.
func observeDriftedUnsettled(ctx context.Context, s *snapshot) (finding, error) {
	for _, o := range []observation{groupUnsynced, apisUnlisted} {
		if found, err := s.look(ctx, o); err != nil {
			return seenNot, err
		} else if found.holds {
			drift, err := s.look(ctx, drifted)
			if isOurRefusal(err) {
				return seenNot, nil
			}
			return drift, err
		}
	}
	return seenNot, nil
}

// observeStillRefused tries an install that was refused before without changing anything.
func observeStillRefused(ctx context.Context, s *snapshot) (finding, error) {
	changes, err := s.changes(ctx)
	if err == nil {
		err = s.tryOut(ctx, s, changes)
	}
	if err != nil && isRefusal(err) {
		s.due.unwatched = true // a quota or a policy may be the cause
		return failed(err), nil
	}
	return seenNot, err
}

// observeTimedOut reports that the components are not healthy although they had their time.
func observeTimedOut(ctx context.Context, s *snapshot) (finding, error) {
	since := s.csv.Status.LastTransitionTime
	if s.done.began || s.csv.Status.Phase != toInstalling || since == nil || s.clock.Now().Before(since.Add(s.limits.install)) {
		return seenNot, nil
	}
	for _, o := range []observation{deploymentsUnready, apiServicesUnready, webhooksFailed} {
		if found, err := s.look(ctx, o); err != nil || found.holds {
			return found, err
		}
	}
	return seenNot, nil
}

// observeSuccessor looks for the next version that has succeeded, or only for one that has done so a short while ago.
func observeSuccessor(justNow bool) observe {
	return func(ctx context.Context, s *snapshot) (finding, error) {
		groups, err := s.groups(ctx)
		if err != nil {
			return seenNot, err
		}
		chain, err := s.chain(ctx)
		if err != nil {
			return seenNot, err
		}
		next := chain.successorInstalled(groups.failsForward())
		if next == nil {
			return seenNot, nil
		}
		if justNow {
			until := chain.requestsUnderWay(next, s.clock.Now())
			s.due.by(until)
			return finding{holds: !until.IsZero(), detail: next.Name}, nil
		}
		return seen(next.Name), nil
	}
}

// keptMeanwhile reports whether a CSV that is being replaced could still be installed: what refuses an install also refuses to correct drift. The
// rows about the OperatorGroup and the strategy are not asked, because the status of such a CSV no longer reports them.
func keptMeanwhile(ctx context.Context, s *snapshot) (bool, error) {
	if groups, err := s.groups(ctx); err != nil || groups.one() == nil {
		return false, err
	}
	for _, o := range []observation{requirementsInvalid, apiServicesForeign} {
		if found, err := s.look(ctx, o); err != nil || found.holds {
			return false, err
		}
	}
	return true, nil
}

// observeDriftedMeanwhile looks for drift of a CSV on its way out, as long as it is the one
// that runs: its successors, which may wait for their requirements for long, have not begun their install, nor adopted
// anything. Where the install of one was refused, what is there is corrected, and what is gone is left to that one.
func observeDriftedMeanwhile(ctx context.Context, s *snapshot) (finding, error) {
	if kept, err := keptMeanwhile(ctx, s); err != nil || !kept || s.done.corrected {
		return seenNot, err
	}
	chain, err := s.chain(ctx)
	if err != nil {
		return seenNot, err
	}
	began, refused := chain.installBegan()
	if began && !refused {
		return seenNot, nil
	}
	changes, err := s.changes(ctx)
	if isOurRefusal(err) {
		return seenNot, nil // what cannot be worked out cannot be corrected either
	}
	if err != nil {
		return seenNot, err
	}
	for _, c := range changes {
		if began && (c.apply == nil || c.unseen) {
			return seenNot, nil
		}
		if c.apply == nil {
			continue
		}
		live, err := s.likeThis(ctx, c.apply)
		if err != nil {
			return seenNot, err
		}
		if live == nil {
			continue
		}
		if owner, ok := ownerOf(live); ok && owner != key(s.csv.Namespace, s.csv.Name) {
			return seenNot, nil // adopted, although the status of the successor does not show it yet
		}
	}
	return firstChange(changes, nil)
}

// meanwhile is in the message of a CSV on its way out that is not healthy.
const meanwhile = ", which has not begun its install; meanwhile this one is not healthy: "

// observeUnhealthyMeanwhile reports that a CSV on its way out does not run well, while it is the one that runs.
func observeUnhealthyMeanwhile(ctx context.Context, s *snapshot) (finding, error) {
	chain, err := s.chain(ctx)
	if err != nil {
		return seenNot, err
	}
	next := chain.successor(s.csv.Name)
	if began, _ := chain.installBegan(); next == nil || began {
		return seenNot, nil
	}
	found, err := ofWorkload(anyTime, func(ctx context.Context, s *snapshot, w *workload, live deployments) (finding, error) {
		health := s.health(ctx, live)
		return w.first(func(d *appsv1.Deployment) string {
			if l := live[d.Name]; l != nil && !ownedBy(l, s.csv) {
				return "" // adopted, although the status of the successor does not show it yet
			}
			return unready(d, health(d))
		}), nil
	})(ctx, s)
	if isOurRefusal(err) || err == nil && !found.holds {
		return seenNot, nil
	}
	return seen(next.Name + meanwhile + found.detail), err
}
