package clusterserviceversion

import (
	"context"
	"fmt"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/tenancy"
)

// facts are what a pass has found out about a ClusterServiceVersion so far. Each part is read when it is first needed.
type facts struct {
	c   *Controller
	csv *v1alpha1.ClusterServiceVersion // with the metadata as it was last written
	// known are the observations since the last action.
	known map[observation]finding

	groups       []v1.OperatorGroup
	groupsRead   bool
	tenants      *tenancy.Verdict
	siblings     []*v1alpha1.ClusterServiceVersion
	requirements *requirements
	wanted       *components
	certificates certificates
	attempt      *attempt
	endpoints    map[types.NamespacedName][]discoveryv1.EndpointSlice // of Services
	asked        map[string]*asked                                    // by Service and port

	// hooked is whether webhooks were registered in this pass, hookError why that failed; healed is whether anything was
	// applied again.
	hooked    bool
	hookError error
	healed    bool
	// withdrawn is whether permissions were taken away in this pass.
	withdrawn bool

	// unmarked is why the cluster refused the finalizer, labels and annotations in this pass.
	unmarked error
	// issued is whether pods got another serving certificate in this pass.
	issued bool
	// unwatched is whether the CSV waits for something whose change no event tells of, such as a newer cluster.
	unwatched bool
	// again is when to look again at what is over by then, if nothing happens before.
	again time.Time
	// retry is a failure after which the pass is to be repeated.
	retry error
}

func newFacts(c *Controller, csv *v1alpha1.ClusterServiceVersion) *facts {
	return &facts{c: c, csv: csv, known: map[observation]finding{}}
}

// observers say how each observation is made.
var observers = map[observation]func(*facts, context.Context) (finding, error){
	always:                    func(*facts, context.Context) (finding, error) { return seen(""), nil },
	adoptRefused:              (*facts).adoptRefused,
	metadataDiffers:           (*facts).metadataDiffers,
	beyondTargets:             (*facts).beyondTargets,
	noGroup:                   (*facts).noGroup,
	severalGroups:             (*facts).severalGroups,
	groupUnsynced:             (*facts).groupUnsynced,
	noTargets:                 (*facts).noTargets,
	duplicateModes:            (*facts).duplicateModes,
	unsupportedGroup:          (*facts).unsupportedGroup,
	apisStatic:                (*facts).apisStatic,
	apisConflict:              (*facts).apisConflict,
	apisUnlisted:              (*facts).apisUnlisted,
	driftedUnsettled:          (*facts).driftedUnsettled,
	failForwardReplaced:       (*facts).failForwardReplaced,
	predecessorNotUpgradeable: (*facts).predecessorNotUpgradeable,
	requirementsInvalid:       (*facts).requirementsInvalid,
	outgrown:                  (*facts).outgrown,
	requirementsNotMet:        (*facts).requirementsNotMet,
	webhooksInvalid:           (*facts).webhooksInvalid,
	crdConflict:               (*facts).crdConflict,
	deploymentsForeign:        (*facts).deploymentsForeign,
	predecessorHolds:          (*facts).predecessorHolds,
	installerMissing:          (*facts).installerMissing,
	notInstalled:              (*facts).notInstalled,
	installRefused:            (*facts).installRefused,
	stillRefused:              (*facts).stillRefused,
	installFailed:             (*facts).installFailed,
	notComputable:             (*facts).notComputable,
	deploymentsMissing:        (*facts).deploymentsMissing,
	deploymentsChanged:        (*facts).deploymentsChanged,
	deploymentsStuck:          (*facts).deploymentsStuck,
	deploymentsUnready:        (*facts).deploymentsUnready,
	drifted:                   (*facts).drifted,
	apiServicesForeign:        (*facts).apiServicesForeign,
	apiServicesBroken:         (*facts).apiServicesBroken,
	apiServicesUnready:        (*facts).apiServicesUnready,
	apisDisrupted:             (*facts).apisDisrupted,
	certificatesDue:           (*facts).certificatesDue,
	certificatesUnstaged:      (*facts).certificatesUnstaged,
	ownCertificatesUnstaged:   (*facts).ownCertificatesUnstaged,
	ownCertificatesDue:        (*facts).ownCertificatesDue,
	webhooksMissing:           (*facts).webhooksMissing,
	webhooksFailed:            (*facts).webhooksFailed,
	installTimedOut:           (*facts).installTimedOut,
	replaced:                  (*facts).handsOver,
	predecessorExists:         (*facts).predecessorExists,
	successorInstalled:        (*facts).successorInstalled,
	requestsUnderWay:          (*facts).requestsUnderWay,
	driftedMeanwhile:          (*facts).driftedMeanwhile,
	successorMissing:          (*facts).successorMissing,
	unhealthyMeanwhile:        (*facts).unhealthyMeanwhile,
	healthyMeanwhile:          (*facts).healthyMeanwhile,
}

// look makes an observation, or remembers it.
func (f *facts) look(ctx context.Context, o observation) (finding, error) {
	if known, ok := f.known[o]; ok {
		return known, nil
	}
	found, err := observers[o](f, ctx)
	if err != nil {
		return seenNot, fmt.Errorf("find out about ClusterServiceVersion %s (%s): %w", client.ObjectKeyFromObject(f.csv), o, err)
	}
	f.known[o] = found
	return found, nil
}

// do acts, and forgets the observations that the action may have changed.
func (f *facts) do(ctx context.Context, a action) error {
	clear(f.known)
	switch a {
	case adopt:
		return f.tryAdopt(ctx)
	case withdraw:
		return f.withdraw(ctx)
	case install:
		return f.install(ctx)
	case heal:
		return f.heal(ctx)
	case stage:
		return f.stage(ctx, (*certificate).unstaged)
	case stageOwn:
		return f.stage(ctx, f.own((*certificate).unstaged))
	case renewOwn:
		return f.renewOwn(ctx)
	case registerHook:
		f.registerWebhooks(ctx)
		return nil
	case retire:
		return f.retire(ctx)
	case stop:
		return f.stop(ctx)
	case deleteSelf:
		return f.deleteSelf(ctx)
	default:
		return fmt.Errorf("action %q is not known", a)
	}
}

// name is the CSV for error messages.
func (f *facts) name() string { return client.ObjectKeyFromObject(f.csv).String() }
