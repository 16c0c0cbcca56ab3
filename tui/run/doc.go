// Package run walks one incident: the rail of phases at the left, the step in
// front in the middle, what is known at the right; after the close, the debrief.
//
// The *move* is what enter would do. It is worked out with each snapshot and each
// key, from what the loop recommends, and always written above the keys. The step
// in front stays until a person moves on, so that what a probe found can be read; once
// a word of theirs is recorded the next step comes to the front, where no key decides
// for a moment. Enter reads a round, agrees with what the facts propose, and answers no
// other question: a number, or u for "I do not know", does.
//
// Each kind of step has a part of its own: a question, a conclusion, a probe, a
// comparison (in which the arrows walk), a watch with its window of samples, a
// gate as it stands from outside.
package run
