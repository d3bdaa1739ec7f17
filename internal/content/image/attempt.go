package image

import (
	"context"
	"errors"
	"time"
)

// Images verifies images, such as an *Store. A nil Images is for a
// process without signature policies.
type Images interface {
	Verify(ctx context.Context, ref string, o VerifyOptions) (*Verification, error)
	Policy() string
	Verifies() bool
}

// Policy identifies the policy as it is now; empty without one.
func Policy(i Images) string {
	if i == nil {
		return ""
	}
	return i.Policy()
}

// Attempt verifies what one attempt to read a catalog finds.
type Attempt struct {
	Auth Auth // may be set after the attempt began, when it is known

	images    Images
	judgement Judgement
}

// BeginAttempt starts an attempt to read the image of a catalog.
func BeginAttempt(i Images, ref string, auth Auth) *Attempt {
	return &Attempt{Auth: auth, images: i, judgement: Judgement{Image: ref, Policy: Policy(i)}}
}

// Verify decides whether the image may be used, by the digest that its
// reference stands for now. Without policies it may. The options need no
// credentials: they are those of the attempt.
func (a *Attempt) Verify(ctx context.Context, o VerifyOptions) error {
	if a.images == nil {
		return nil
	}
	var err error
	o.Auth = a.Auth
	a.judgement.Verification, err = a.images.Verify(ctx, a.judgement.Image, o)
	return err
}

// Judgement concludes an attempt that ended with err. Of one that failed it
// reports whether the content at digest that was served before may still be
// served; an empty digest is for none.
func (a *Attempt) Judgement(ctx context.Context, err error, before Content, digest string) Judgement {
	if err == nil || digest == "" || before.Image == "" {
		return a.judgement
	}
	var served Verdict
	if a.images != nil {
		served.Verification, served.Err = a.images.Verify(ctx, before.Image, VerifyOptions{Auth: a.Auth, Digest: digest})
	}
	a.judgement.Served = &served
	return a.judgement
}

// Restored is what is known of content that an earlier run has verified: nothing
// that this process has decided.
func Restored(i Images, ref string) Content {
	return Content{Image: ref, Pending: i != nil && ref != "" && i.Verifies()}
}

// firstPause is how long to wait before something is tried again; each later
// pause is twice as long.
const firstPause = time.Second

// patiently tries something until it succeeds, fails for a reason that stays,
// or has been tried often enough.
func patiently[T any](ctx context.Context, retries int, try func() (T, error)) (T, error) {
	for pause := firstPause; ; pause *= 2 {
		result, err := try()
		var e *Error
		if err == nil || retries <= 0 || !errors.As(err, &e) || !e.Temporary() {
			return result, err
		}
		retries--
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return result, err
		}
	}
}
