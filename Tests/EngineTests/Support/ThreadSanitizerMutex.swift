// ThreadSanitizerMutex.swift: the engine's stand-in for Mutex is that of its tests, too.

#if THREAD_SANITIZER
  @testable import Engine

  typealias Mutex<Value: ~Copyable> = Engine.Mutex<Value>
#endif
