package console

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"fairlead.dev/fairlead/internal/messages"

	"k8s.io/utils/clock"
)

// Bounds of jobs.
const (
	maxRunning = 3    // of a session at once
	maxJobs    = 10   // of a session that are shown
	allRunning = 60   // of all sessions at once
	maxSteps   = 50   // of a job that are kept, the newest
	maxStep    = 2000 // bytes of a step, which may end with what to do
	// jobTime is how long a job may take: custom resources may have finalizers that take minutes.
	jobTime = 20 * time.Minute
	// shownFor is how long one that is done is shown. A failure is shown until the user has seen it.
	shownFor = 10 * time.Minute
)

// Job is something that takes longer than a page may: pages show how far it is.
type Job struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Page leads to what it is about.
	Page  string    `json:"page"`
	Begun time.Time `json:"begun"`
	// Ended is zero while it runs.
	Ended time.Time `json:"ended,omitzero"`
	Steps []string  `json:"steps,omitempty"`
	// Result is what came of it; Failure and Remedy are why nothing did, and what to do.
	Result  string `json:"result,omitempty"`
	Failure string `json:"failure,omitempty"`
	Remedy  string `json:"remedy,omitempty"`

	cancel context.CancelFunc
}

// Running reports whether it has not ended.
func (j Job) Running() bool { return j.Ended.IsZero() }

// Last is what it has done last; empty before that.
func (j Job) Last() string {
	if len(j.Steps) == 0 {
		return ""
	}
	return j.Steps[len(j.Steps)-1]
}

// jobs are those of a session.
type jobs struct {
	mu   sync.Mutex
	next int
	all  []*Job
}

// runner runs jobs.
type runner struct {
	clock clock.PassiveClock
	log   *slog.Logger
	slots chan struct{} // has an element for each that runs
}

func newRunner(c clock.PassiveClock, log *slog.Logger) *runner {
	return &runner{c, log, make(chan struct{}, allRunning)}
}

// begin runs something in the background for the user of a request, with a title that says what is done with which object. Pages show what is told
// meanwhile, and the result or the error at the end.
func (r *runner) begin(ctx context.Context, q *query, title, page string, run func(ctx context.Context, tell func(string)) (result string, err error)) error {
	busy := &statusError{http.StatusTooManyRequests, title + ": not begun, as too much is under way", "wait until something of it has ended, then try again"}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobTime) // it continues when the page is closed
	job := &Job{Title: title, Page: page, Begun: r.clock.Now(), cancel: cancel}
	if err := q.jobs.add(job, r.clock.Now()); err != nil {
		cancel()
		return err
	}
	select {
	case r.slots <- struct{}{}:
	default:
		cancel()
		q.jobs.end(job.ID)
		return busy
	}
	user := q.user
	tell := func(step string) {
		q.jobs.mu.Lock()
		job.Steps = append(job.Steps[max(0, len(job.Steps)-maxSteps+1):], messages.Bound(step, maxStep))
		q.jobs.mu.Unlock()
		user.changed()
	}
	go func() {
		defer func() { <-r.slots }()
		defer cancel()
		result, err := guarded(ctx, tell, run)
		q.jobs.mu.Lock()
		job.Ended, job.Result = r.clock.Now(), result
		if err != nil {
			known := explain(err)
			job.Failure, job.Remedy = known.text, known.whatToDo
		}
		q.jobs.mu.Unlock()
		r.log.Info("a job has ended", "title", title, "user", user.Name, "result", result, "err", err)
		user.changed()
	}()
	return nil
}

// guarded runs a job, the faults of which are failures.
func guarded(ctx context.Context, tell func(string), run func(context.Context, func(string)) (string, error)) (result string, err error) {
	defer recovered(ctx, "do it", &err)
	return run(ctx, tell)
}

// add adds a job. The same thing is not begun twice, and failures that were not seen do not make room.
func (j *jobs) add(job *Job, now time.Time) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sweep(now)
	running := 0
	for _, other := range j.all {
		if !other.Running() {
			continue
		}
		if running++; other.Title == job.Title {
			return &statusError{http.StatusConflict, job.Title + ": it is under way already", "wait for its end, which pages show"}
		}
	}
	if running >= maxRunning {
		return &statusError{http.StatusTooManyRequests, fmt.Sprintf("%s: not begun, as %d things that you have begun are under way", job.Title, running), "wait until one of them has ended, then try again"}
	}
	if len(j.all) >= maxJobs {
		i := slices.IndexFunc(j.all, func(o *Job) bool { return !o.Running() && o.Failure == "" })
		if i < 0 {
			return &statusError{http.StatusTooManyRequests, job.Title + ": not begun, as there are too many failures that you have not dismissed", "dismiss them, then try again"}
		}
		j.all = slices.Delete(j.all, i, i+1)
	}
	j.next++
	job.ID = strconv.Itoa(j.next)
	j.all = append(j.all, job)
	return nil
}

// sweep forgets what was done a while ago.
func (j *jobs) sweep(now time.Time) {
	j.all = slices.DeleteFunc(j.all, func(o *Job) bool { return !o.Running() && o.Failure == "" && now.Sub(o.Ended) > shownFor })
}

// end forgets a job that has ended, and stops one that runs: what it has done by then stays done.
func (j *jobs) end(id string) *Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.IndexFunc(j.all, func(o *Job) bool { return o.ID == id })
	if i < 0 {
		return nil
	}
	job := *j.all[i]
	job.cancel()
	j.all = slices.Delete(j.all, i, i+1)
	return &job
}

// endTitled forgets jobs with a title, and stops those that run.
func (j *jobs) endTitled(title string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.all = slices.DeleteFunc(j.all, func(o *Job) bool {
		if o.Title == title {
			o.cancel()
		}
		return o.Title == title
	})
}

// shown are the jobs, the newest first.
func (j *jobs) shown(now time.Time) []Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sweep(now)
	out := []Job{}
	for _, job := range slices.Backward(j.all) {
		one := *job
		one.Steps = slices.Clone(job.Steps)
		out = append(out, one)
	}
	return out
}

// jobsPath is the page with all jobs.
const jobsPath = "/jobs"

// onPage are the jobs that a page shows: those that run or have failed, and the last one that is done. Their own page has all.
func onPage(path string, all []Job) (some []Job) {
	if path == jobsPath {
		return all
	}
	done := false
	for _, job := range all {
		if good := !job.Running() && job.Failure == ""; !good || !done {
			some = append(some, job)
			done = done || good
		}
	}
	return some
}

// jobsPage is what the session has begun.
type jobsPage struct {
	Jobs []Job `json:"jobs"`
}

func (r *runner) part() part {
	return part{
		views: []view{{path: jobsPath, template: "jobs", title: "Under way", load: func(_ context.Context, q *query) (any, error) {
			return &jobsPage{q.jobs.shown(r.clock.Now())}, nil
		}}},
		actions: []action{{path: jobsPath + "/{id}/end", do: func(_ context.Context, q *query) (done, error) {
			job := q.jobs.end(q.path("id"))
			switch {
			case job == nil:
				return done{}, &statusError{http.StatusNotFound, "There is nothing under way of that number", "load the page again"}
			case job.Running():
				return done{Notice: job.Title + ": stopped; what was done by then stays done"}, nil
			}
			return done{}, nil
		}}},
	}
}

// ended is the result of waiting: an error that only says that nothing more happens by itself is a result.
func ended(result string, err error, harmless ...any) (string, error) {
	for _, target := range harmless {
		if err != nil && errors.As(err, target) {
			return err.Error(), nil
		}
	}
	return result, err
}
