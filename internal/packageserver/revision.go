package packageserver

import (
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apistorage "k8s.io/apiserver/pkg/storage"
)

// A revision is the resource version of all that is shown: a time, in eighths of a second, and in its lowest bits what identifies the
// content. So revisions rise, also when a process succeeds another one, and a process knows a revision that another one has given
// when it shows, or has shown, the same.
const (
	contentBits     = 27
	revisionsSecond = 8
	contentMask     = 1<<contentBits - 1 // the part of a revision that says what was shown
)

// maxAhead is how far the revisions of another process may be ahead of the clock to be adopted.
const maxAhead = time.Minute

func tick(at time.Time) uint64 {
	return uint64(max(at.UnixMilli(), 0)) * revisionsSecond / 1000
}

// newRevision is later than the one before it.
func newRevision(before uint64, at time.Time, fingerprint uint64) uint64 {
	return max(tick(at), before>>contentBits+1)<<contentBits | (fingerprint>>contentBits^fingerprint)&contentMask
}

func revisionText(revision uint64) string { return strconv.FormatUint(revision, 10) }

// parseRevision is 0 for a request that does not care.
func parseRevision(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	revision, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("the resource version %q is not one that this API has given: %v", text, err))
	}
	return revision, nil
}

// checkRevision refuses what a list cannot answer: there is only the present.
func checkRevision(o *internalversion.ListOptions, p *present) error {
	if o == nil {
		return nil
	}
	asked, err := parseRevision(o.ResourceVersion)
	if err != nil || asked == 0 {
		return err
	}
	now := p.now().revision
	switch known := p.at(asked); {
	case asked > now && known == nil:
		return apistorage.NewTooLargeResourceVersionError(asked, now, 1)
	case o.ResourceVersionMatch == metav1.ResourceVersionMatchExact && (known == nil || known.revision&contentMask != now&contentMask):
		return expired(asked, now)
	}
	return nil
}

func expired(asked, now uint64) error {
	return apierrors.NewResourceExpired(fmt.Sprintf("the resource version %d is too old, what was shown then is not kept; list again to get version %d", asked, now))
}
