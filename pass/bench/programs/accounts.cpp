/*
 * Transfers between accounts of several kinds: withdrawing is virtual, and an account that can not pay throws, about
 * once in a hundred transfers.
 * Stands for object-oriented code: virtual calls that predict badly, and unwinding through a few frames with
 * destructors now and then.
 */
#include <array>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

#include "input.h"

namespace {

class InsufficientFunds : public std::runtime_error {
public:
    explicit InsufficientFunds(int64_t missing) : std::runtime_error("insufficient funds"), missing(missing) {}
    const int64_t missing;
};

class Account {
public:
    explicit Account(int64_t balance) : balance_(balance) {}
    virtual ~Account() = default;
    virtual void withdraw(int64_t amount) = 0;
    virtual void end_of_day() {}
    virtual int64_t available() const { return balance_; }
    void deposit(int64_t amount) { balance_ += amount; }
    int64_t balance() const { return balance_; }

protected:
    /* Throws unless `limit` covers the amount. */
    void take(int64_t amount, int64_t limit)
    {
        if (amount > limit) {
            throw InsufficientFunds(amount - limit);
        }
        balance_ -= amount;
    }

    int64_t balance_;
};

class Current : public Account {
public:
    using Account::Account;
    void withdraw(int64_t amount) override { take(amount, available()); }
    int64_t available() const override { return balance_ + 1000; }
    void end_of_day() override { balance_ -= balance_ < 0 ? -balance_ / 500 + 1 : 0; }
};

class Savings : public Account {
public:
    using Account::Account;
    void withdraw(int64_t amount) override
    {
        take(amount, available());
        withdrawals_++;
    }
    int64_t available() const override { return withdrawals_ < 300 ? balance_ : 0; }
    void end_of_day() override
    {
        balance_ += balance_ / 1000;
        withdrawals_ = 0;
    }

private:
    int withdrawals_ = 0;
};

class Business : public Account {
public:
    using Account::Account;
    void withdraw(int64_t amount) override
    {
        constexpr int64_t fee = 2;
        take(amount + fee, balance_);
        fees_ += fee;
    }
    void end_of_day() override
    {
        balance_ += fees_ / 2;
        fees_ = 0;
    }

private:
    int64_t fees_ = 0;
};

/* Records a transfer when it goes out of scope, however that happens. */
class Entry {
public:
    explicit Entry(uint64_t &journal) : journal_(journal) {}
    ~Entry() { journal_ = mix(journal_, succeeded_); }
    Entry(const Entry &) = delete;
    Entry &operator=(const Entry &) = delete;
    void succeed() { succeeded_ = 1; }

private:
    uint64_t &journal_;
    uint64_t succeeded_ = 0;
};

class Bank {
public:
    explicit Bank(uint64_t seed) : seed_(seed)
    {
        for (int i = 0; i < 512; i++) {
            int64_t balance = 10000 + random_below(&seed_, 40000);
            switch (random_below(&seed_, 3)) {
            case 0: accounts_.push_back(std::make_unique<Current>(balance)); break;
            case 1: accounts_.push_back(std::make_unique<Savings>(balance)); break;
            default: accounts_.push_back(std::make_unique<Business>(balance)); break;
            }
        }
    }

    void day()
    {
        for (int i = 0; i < 20000; i++) {
            try {
                Account &from = any_account(), &to = any_account();
                transfer(from, to, 1 + random_below(&seed_, 400));
            } catch (const InsufficientFunds &refusal) {
                missing_ += refusal.missing;
            }
        }
        for (const auto &account : accounts_) {
            account->end_of_day();
        }
    }

    uint64_t checksum() const
    {
        uint64_t checksum = mix(journal_, static_cast<uint64_t>(missing_));
        for (const auto &account : accounts_) {
            checksum = mix(checksum, static_cast<uint64_t>(account->balance() + account->available()));
        }
        return checksum;
    }

private:
    Account &any_account() { return *accounts_[random_below(&seed_, static_cast<uint32_t>(accounts_.size()))]; }

    void transfer(Account &from, Account &to, int64_t amount)
    {
        Entry entry(journal_);
        from.withdraw(amount);
        to.deposit(amount);
        entry.succeed();
    }

    uint64_t seed_;
    uint64_t journal_ = 0;
    int64_t missing_ = 0;
    std::vector<std::unique_ptr<Account>> accounts_;
};

} // namespace

int main(int argc, char **argv)
{
    Bank bank(41);
    int rounds = scaled_rounds(argc, argv, 1600);
    for (int i = 0; i < rounds; i++) {
        bank.day();
    }
    std::printf("%016" PRIx64 "\n", bank.checksum());
    return 0;
}
