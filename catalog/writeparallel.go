package catalog

// pipeline encodes objects with several workers and hands out the results in
// order. No more than a few results wait to be taken.
type pipeline struct {
	results chan chan encodedObject // in order
	ended   chan struct{}
	last    *[]byte // handed out, to be reused
}

// encodedObject is what became of an object, in a buffer that goes back to the
// others once it is written.
type encodedObject struct {
	text *[]byte
	err  error
}

// encodeJob is an object to encode, and where the result is awaited.
type encodeJob struct {
	object any
	result chan encodedObject
}

// encodeAll starts to encode. The caller has to take all results, or to stop.
func encodeAll(objects []ordered, format Format, workers int) *pipeline {
	p := &pipeline{results: make(chan chan encodedObject, 2*workers), ended: make(chan struct{})}
	jobs := make(chan encodeJob)
	for range workers {
		go func() {
			var e encoder
			for j := range jobs {
				buffer := buffers.Get().(*[]byte)
				text, err := e.appendDocument((*buffer)[:0], j.object, format)
				if err == nil {
					*buffer = text
				}
				j.result <- encodedObject{buffer, err}
			}
		}()
	}
	go func() {
		defer close(jobs)
		for _, o := range objects {
			job := encodeJob{o.object, make(chan encodedObject, 1)}
			select {
			case p.results <- job.result:
				jobs <- job
			case <-p.ended:
				return
			}
		}
	}()
	return p
}

func (p *pipeline) release() {
	if p.last != nil {
		buffers.Put(p.last)
		p.last = nil
	}
}
