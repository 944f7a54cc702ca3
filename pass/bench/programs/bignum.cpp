/*
 * Long numbers as vectors of 32-bit digits with operators: Fibonacci numbers by doubling, factorials, and their
 * decimal digits.
 * Stands for loops that carry something from turn to turn, of all lengths, and for values that are copied and freed.
 */
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "input.h"

namespace {

/* The lowest digit first, and no zeros at the high end. */
class Number {
public:
    explicit Number(uint32_t value) : digits_(value != 0 ? 1 : 0, value) {}

    Number operator+(const Number &other) const
    {
        Number sum(0);
        uint64_t carry = 0;
        for (size_t i = 0; i < std::max(digits_.size(), other.digits_.size()) || carry != 0; i++) {
            carry += digit(i) + other.digit(i);
            sum.digits_.push_back(static_cast<uint32_t>(carry));
            carry >>= 32;
        }
        return sum;
    }

    /* The other one must not be larger. */
    Number operator-(const Number &other) const
    {
        Number difference(0);
        int64_t carry = 0;
        for (size_t i = 0; i < digits_.size(); i++) {
            carry += static_cast<int64_t>(digit(i)) - static_cast<int64_t>(other.digit(i));
            difference.digits_.push_back(static_cast<uint32_t>(carry));
            carry >>= 32;
        }
        difference.trim();
        return difference;
    }

    Number operator*(const Number &other) const
    {
        Number product(0);
        product.digits_.resize(digits_.size() + other.digits_.size());
        for (size_t i = 0; i < digits_.size(); i++) {
            uint64_t carry = 0;
            for (size_t j = 0; j < other.digits_.size(); j++) {
                carry += static_cast<uint64_t>(digits_[i]) * other.digits_[j] + product.digits_[i + j];
                product.digits_[i + j] = static_cast<uint32_t>(carry);
                carry >>= 32;
            }
            product.digits_[i + other.digits_.size()] = static_cast<uint32_t>(carry);
        }
        product.trim();
        return product;
    }

    /* Divides in place and returns the remainder. */
    uint32_t divide(uint32_t divisor)
    {
        uint64_t remainder = 0;
        for (size_t i = digits_.size(); i-- > 0;) {
            remainder = remainder << 32 | digits_[i];
            digits_[i] = static_cast<uint32_t>(remainder / divisor);
            remainder %= divisor;
        }
        trim();
        return static_cast<uint32_t>(remainder);
    }

    std::string decimal() const
    {
        std::string text;
        for (Number rest = *this; !rest.digits_.empty();) {
            uint32_t nine_digits = rest.divide(1000000000);
            for (int i = 0; i < 9; i++) {
                text += static_cast<char>('0' + nine_digits % 10);
                nine_digits /= 10;
            }
        }
        while (text.size() > 1 && text.back() == '0') {
            text.pop_back();
        }
        std::reverse(text.begin(), text.end());
        return text;
    }

private:
    uint64_t digit(size_t i) const { return i < digits_.size() ? digits_[i] : 0; }

    void trim()
    {
        while (!digits_.empty() && digits_.back() == 0) {
            digits_.pop_back();
        }
    }

    std::vector<uint32_t> digits_;
};

/* The numbers of index n and n + 1. */
std::pair<Number, Number> fibonacci(uint32_t n)
{
    if (n == 0) {
        return {Number(0), Number(1)};
    }
    auto [low, high] = fibonacci(n / 2);
    Number even = low * (high + high - low);
    Number odd = low * low + high * high;
    if (n % 2 == 0) {
        return {even, odd};
    }
    return {odd, even + odd};
}

Number factorial(uint32_t n)
{
    Number product(1);
    for (uint32_t i = 2; i <= n; i++) {
        product = product * Number(i);
    }
    return product;
}

} // namespace

int main(int argc, char **argv)
{
    uint64_t seed = 46;
    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 2800);
    for (int i = 0; i < rounds; i++) {
        Number number = fibonacci(5000 + random_below(&seed, 10000)).first;
        Number other = factorial(200 + random_below(&seed, 400));
        for (char c : (number * other + number).decimal()) {
            checksum = checksum * 31 + static_cast<unsigned char>(c);
        }
    }
    std::printf("%016" PRIx64 "\n", checksum);
    return 0;
}
