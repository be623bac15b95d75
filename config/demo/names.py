"""Believable names from many places, drawn by a seeded generator so that a seed always gives the same school."""

import random
from collections.abc import Iterator

GIVEN = (
    "Aino Amara Anouk Arjun Aya Bao Beatriz Bjarne Callum Chiara Daniyar Deniz Eero Elif Emeka Esi Farid Fatima Felix "
    "Freya Gábor Giulia Hana Hassan Helmi Ibrahim Ines Ivana Jaakko Jamila Jonas Juno Kaito Kateryna Kofi Lan Leila "
    "Linnea Luca Lucía Maja Malik Mateo Mei Milan Mira Nadia Niamh Nikos Noor Olavi Oona Oskar Pilar Priya Rafael "
    "Rania Ravi Rosa Sami Sanna Selma Signe Sofía Soraya Stefan Sven Tadeo Thandiwe Theo Tuuli Uma Valeria Veikko "
    "Vikram Wanjiru Xiao Yara Yusuf Zofia"
).split()

FAMILY = (
    "Achieng Ahmadi Andersson Bakker Bauer Berg Bianchi Boateng Castro Chen Costa Demir Díaz Dubois Eriksson Fernández "
    "Fischer García Georgiou Haddad Hakimi Halonen Hansen Hernández Hoàng Horvat Ibáñez Ivanov Jansen Joshi Kamau "
    "Kaya Keller Kim Korhonen Kovács Kowalska Laine Larsen Lehtinen Lindqvist López Mahlangu Marković Martins Mbeki "
    "Mensah Moreau Morita Mäkelä Nagy Nguyễn Nieminen Novak Nwosu Ó'Brien Okafor Oliveira Papadakis Patel Petrov "
    "Quispe Rahman Rinne Romero Rossi Saarinen Sánchez Schmidt Shevchenko Silva Singh Sørensen Takahashi Torres "
    "Virtanen Vogel Wójcik Yilmaz Zhang"
).split()


def draw_names(dice: random.Random) -> Iterator[tuple[str, str]]:
    """Yield (given, family) names without end, no pair twice until all pairs are used."""
    while True:
        pairs = [(given, family) for given in GIVEN for family in FAMILY]
        dice.shuffle(pairs)
        yield from pairs
