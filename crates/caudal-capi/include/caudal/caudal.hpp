/*
 * Caudal for C++: closures as requests, results and exceptions back to who waits. C++11 or later; see caudal/caudal.h.
 *
 *      auto request = caudal::submit(runtime, gets, [&] { return store.get(key); });
 *      auto value = request.get();
 *
 * An exception that leaves a closure ends its request as failed, and get() throws it. (One that leaves a plain handler of
 * caudal_submit() ends the process.)
 */
#ifndef CAUDAL_CAUDAL_HPP
#define CAUDAL_CAUDAL_HPP

#include <exception>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "caudal.h"

namespace caudal {

/* A call, or a request, that did not end well. */
class error : public std::runtime_error {
public:
    explicit error(caudal_status status)
        : std::runtime_error(caudal_status_text(static_cast<uint32_t>(status))), status_(status), outcome_(CAUDAL_OUTCOME_NONE)
    {
    }
    error(const char *what, caudal_outcome outcome) : std::runtime_error(what), status_(CAUDAL_OK), outcome_(outcome) {}

    caudal_status status() const noexcept { return status_; }
    caudal_outcome outcome() const noexcept { return outcome_; }

private:
    caudal_status status_;
    caudal_outcome outcome_;
};

/* The request in which the caller runs has been cancelled. Let it leave the closure: the request then ends as cancelled. */
class cancelled : public error {
public:
    cancelled() : error(CAUDAL_CANCELLED) {}
};

/* Throws what a status means, if that is not CAUDAL_OK. */
inline void check(caudal_status status)
{
    if (status == CAUDAL_CANCELLED) {
        throw cancelled();
    }
    if (status != CAUDAL_OK) {
        throw error(status);
    }
}

/* A critical section as long as the object lives is caudal::critical_section, of caudal/probe.h. */

namespace detail {

template <typename T> struct result {
    std::unique_ptr<T> value;
    template <typename F> void run(F &call) { value.reset(new T(call())); }
    T take() { return std::move(*value); }
};

template <> struct result<void> {
    template <typename F> void run(F &call) { call(); }
    void take() {}
};

template <typename T> struct outcome_of {
    result<T> value;
    std::exception_ptr failure;
};

/* The state that a request owns: its closure, and the place for its result, which its handle shares. */
template <typename F, typename T> struct job {
    F call;
    std::shared_ptr<outcome_of<T>> out;

    static void handler(void *argument)
    {
        job *self = static_cast<job *>(argument);
        try {
            self->out->value.run(self->call);
        } catch (const cancelled &) {
            /* The library knows. */
        } catch (const std::exception &thrown) {
            self->out->failure = std::current_exception();
            caudal_fail(thrown.what());
        } catch (...) {
            self->out->failure = std::current_exception();
            caudal_fail("an exception that is no std::exception");
        }
    }

    static void completion(void *argument, caudal_outcome) { delete static_cast<job *>(argument); }
};

} // namespace detail

/* A closure that was submitted. Its destructor lets the request run, and its result go. */
template <typename T> class request {
public:
    request(caudal_request *handle, std::shared_ptr<detail::outcome_of<T>> out) : handle_(handle), out_(std::move(out)) {}
    request(request &&other) noexcept : handle_(other.handle_), out_(std::move(other.out_)) { other.handle_ = nullptr; }
    request(const request &) = delete;
    request &operator=(const request &) = delete;
    ~request()
    {
        if (handle_ != nullptr) {
            caudal_request_release(handle_);
        }
    }

    /* Waits for the result; once. Throws what the closure threw; caudal::cancelled, if the caller's own request is cancelled;
     * caudal::error, if the request ended otherwise. */
    T get()
    {
        caudal_outcome outcome = CAUDAL_OUTCOME_NONE;
        check(caudal_wait(handle_, &outcome));
        if (outcome == CAUDAL_OUTCOME_FAILED && out_->failure) {
            std::rethrow_exception(out_->failure);
        }
        if (outcome != CAUDAL_OUTCOME_RETURNED) {
            throw error("the request was cancelled, expired or abandoned, or its runtime stopped", outcome);
        }
        return out_->value.take();
    }

    bool is_done() const { return caudal_request_outcome(handle_) != CAUDAL_OUTCOME_NONE; }
    void cancel() { check(caudal_cancel(handle_)); }
    caudal_request *handle() const noexcept { return handle_; }

private:
    caudal_request *handle_;
    std::shared_ptr<detail::outcome_of<T>> out_;
};

/* Submits a closure. It is destroyed when its request has ended. Throws caudal::error, or caudal::cancelled. */
template <typename F>
auto submit(caudal_runtime *runtime, caudal_class class_, F &&call) -> request<typename std::decay<decltype(call())>::type>
{
    typedef typename std::decay<decltype(call())>::type T;
    typedef detail::job<typename std::decay<F>::type, T> job;
    std::shared_ptr<detail::outcome_of<T>> out = std::make_shared<detail::outcome_of<T>>();
    std::unique_ptr<job> owned(new job{std::forward<F>(call), out});
    caudal_submission submission;
    caudal_submission_init(&submission);
    submission.handler = job::handler;
    submission.argument = owned.get();
    submission.completion = job::completion;
    submission.completion_argument = owned.get();
    caudal_request *handle = nullptr;
    check(caudal_submit_with(runtime, class_, &submission, &handle));
    owned.release();
    return request<T>(handle, std::move(out));
}

} // namespace caudal

#endif
