// The tests of this target share what stands here.
